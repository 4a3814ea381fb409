"""Tables that needn't fit into memory: read, coded, counted and written in blocks, or by workers.

``fit`` takes a pyarrow Table or Dataset, the path of a Parquet file or folder, or a Dask DataFrame.
While a ``distributed.Client`` is open, its workers count files and Dask DataFrames.
"""

from .sources import Source, find_source
from .writing import write_sample

__all__ = ["Source", "find_source", "write_sample"]
