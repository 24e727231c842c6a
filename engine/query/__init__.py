"""Questions over the original schema, answered from released views with bounds (`srsql query`).

A question goes through these modules in order: ``answer`` finds the views, ``question`` reads the
SELECT with ``relations`` (FROM and JOIN), ``expressions`` (conditions and groups), ``vocabulary``
(names and syntax) and ``limits`` (what a release does not tell); ``worlds`` cuts the
quasi-identifiers into cells, and ``count_bounds`` composes the statement that counts; where whole
rows are taken apart, ``cluster_bounds`` does, of rows and clusters together.
"""
