from artifact.conftest import artifact, csv_artifact, kept_artifacts, warehouses

__all__ = ["artifact", "csv_artifact", "kept_artifacts", "warehouses"]
