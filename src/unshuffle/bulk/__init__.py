"""Folders of files in, folders of Parquet out, in parts that are each done whole, on one machine or a Ray cluster."""
