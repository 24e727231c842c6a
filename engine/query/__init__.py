"""Questions over the original schema, answered from released views with bounds (`srsql query`).

A question goes through these modules in order: ``answer`` finds the views, ``table_expressions``
writes named rows in their places, ``question`` reads the SELECT with ``relations`` (FROM and JOIN),
``expressions`` (conditions and groups), ``bands`` (what is computed from a number), ``aggregates``
and ``having``, ``vocabulary`` (names and syntax) and ``limits`` (what a release does not tell);
``worlds`` cuts the quasi-identifiers into cells. ``group_bounds`` asks the statements:
``count_bounds`` composes the one that counts, ``unit_states`` those of shares and means, whose ends
are ``extremes``; ``chosen_groups`` says which groups HAVING and LIMIT leave. Over clusters
``cluster_bounds`` counts, of rows and items together.
"""
