from artifact.conftest import artifact, csv_artifact, each_page_once, kept_artifacts, warehouses

__all__ = ["artifact", "csv_artifact", "each_page_once", "kept_artifacts", "warehouses"]
