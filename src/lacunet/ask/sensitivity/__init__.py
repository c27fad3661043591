"""How far an answer moves if values are not missing at random.

`tilt` lets hidden values differ from shown ones by a stated amount, `tilted_em` is EM under it,
`tilted_query` what is asked, `comparison` by which method and within which groups; `sensitivity`
puts it together: a table, a curve, intervals (`tilted_intervals`), words (`sensitivity_words`).
"""
