"""Raw quarters as Parquet files beside the warehouse."""
