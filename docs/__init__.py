"""What the pages under docs/ are made of; ``python -m docs`` makes their pictures and numbers."""
