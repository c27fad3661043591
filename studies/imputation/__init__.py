"""lacunet's imputation beside R's mice: tables, holes, rivals, judges, and the page they fill.

Read `tables` (which, from where, and which of them rules were chosen on), `holes` (how cells are
hidden), `rivals` (who completes them), `judges` (how near completed tables come to the hidden
truth), then `__main__` (the command) and `page` (what `docs/beside-mice.md` shows).
"""
