"""The mathematics: labelings, rows, solvers and the certificate, on numpy and scipy alone.

Nothing here prints, warns or imports scikit-learn.
"""
