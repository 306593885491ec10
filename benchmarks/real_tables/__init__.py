"""Public tables from packages, labels hidden: the command line beside scikit-learn and skrub."""
