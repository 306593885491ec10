"""The other methods that the paper names, one file each, as scikit-learn classifiers."""

from .all_labelings import AllLabelingsDiscriminant
from .contrastive_pessimistic import ContrastivePessimisticDiscriminant
from .em_discriminant import EMDiscriminantClassifier
from .from_scikit_learn import SemiSupervisedAdapter
from .implicitly_constrained import ImplicitlyConstrainedClassifier
from .missing_outcomes import MissingOutcomeRegressor
from .oracle import OracleClassifier
from .self_learning import SelfLearning
from .transductive_svm import TransductiveSVM

__all__ = [
    "AllLabelingsDiscriminant",
    "ContrastivePessimisticDiscriminant",
    "EMDiscriminantClassifier",
    "ImplicitlyConstrainedClassifier",
    "MissingOutcomeRegressor",
    "OracleClassifier",
    "SelfLearning",
    "SemiSupervisedAdapter",
    "TransductiveSVM",
]
