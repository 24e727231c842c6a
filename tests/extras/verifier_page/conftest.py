from artifact.conftest import plain_pages

__all__ = ["plain_pages"]
