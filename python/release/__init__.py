"""Makes and checks a release: `make release`, which runs `python -m release`. docs/versions.md says what a release has."""
