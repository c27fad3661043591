# The command line and the library, with what files and databases need.
#   docker build -t lacunet .
#   docker run --rm -v "$PWD:/data" lacunet learn "A -> B" table.csv --intervals
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src ./src
RUN python -m venv /opt/lacunet \
    && /opt/lacunet/bin/pip install --no-cache-dir ".[databases,fast]"

FROM python:3.13-slim
COPY --from=build /opt/lacunet /opt/lacunet
ENV PATH="/opt/lacunet/bin:$PATH"
RUN useradd --create-home --uid 1000 reader
USER 1000
WORKDIR /data
ENTRYPOINT ["lacunet"]
CMD ["--help"]
