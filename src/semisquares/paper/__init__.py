"""The paper and nothing else: its objectives, data sets and figures, and the report on them."""
