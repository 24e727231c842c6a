from artifact.conftest import each_page_once, plain_pages

__all__ = ["each_page_once", "plain_pages"]
