# Completes the columns of a CSV file with mice, several times, and says how long mice alone took.
#   Rscript mice.R in.csv out-prefix method draws seed numbers(comma separated, or -)
library(mice)
given <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(given[1], na.strings = "", colClasses = "character", check.names = FALSE)
numbers <- strsplit(given[6], ",")[[1]]
for (name in names(rows)) {
  rows[[name]] <- if (name %in% numbers) as.numeric(rows[[name]]) else factor(rows[[name]])
}
names_given <- names(rows)
names(rows) <- paste0("v", seq_along(rows))
method <- if (given[3] == "default") NULL else given[3]
began <- proc.time()
done <- suppressWarnings(mice(
  rows, m = as.integer(given[4]), method = method, seed = as.integer(given[5]),
  printFlag = FALSE, nnet.MaxNWts = 100000
))
took <- proc.time() - began
for (draw in seq_len(done$m)) {
  whole <- complete(done, draw)
  names(whole) <- names_given
  write.csv(whole, paste0(given[2], draw, ".csv"), row.names = FALSE, na = "")
}
cat(sprintf("%.3f\n", took[["user.self"]] + took[["sys.self"]]))
