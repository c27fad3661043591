"""A Spark session on this machine, one for all tests; they are skipped where Spark is missing."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}


@cache
def session(master: str = "local[2]") -> Any:
    """The session; ``connect:MASTER`` for one of Spark Connect."""
    pytest.importorskip("pyspark", reason="no PySpark: `make test-all` installs it")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    remote = master.removeprefix("connect:")
    builder = SparkSession.builder
    builder = builder.master(master) if remote == master else builder.remote(remote)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def frame_of(rows: pa.Table, master: str = "local[2]") -> Any:
    """A Spark data frame with these rows."""
    texts = [field.with_type(pa.string()) if _is_text(field) else field for field in rows.schema]
    return session(master).createDataFrame(rows.cast(pa.schema(texts)))


def _is_text(field: pa.Field) -> bool:
    return bool(pa.types.is_dictionary(field.type) or pa.types.is_null(field.type))
