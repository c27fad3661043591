"""What is missing, how, and what that permits: looked at before anything is learned.

`patterns` counts what is missing together; `at_random` asks whether values are missing
completely at random, or at random; `diagnosis` puts it all together and says it in words.
`sensitivity` says how far an answer moves if values are not missing at random.
"""
