"""The paper's simulation study as plain functions; the workflow's scripts call them and add only files."""
