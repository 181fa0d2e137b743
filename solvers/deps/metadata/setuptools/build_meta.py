from mesonpy import prepare_metadata_for_build_wheel  # noqa: F401: the same stand-in for another build backend
