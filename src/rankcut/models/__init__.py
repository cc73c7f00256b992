"""Models: how raw numbers X w become one score per sample, and how weights of samples are pulled back."""

from rankcut.models.bag import BagRisk, LatentBagRisk, best_instances
from rankcut.models.easy import EasySamples
from rankcut.models.graph import LabellingRisk, LatentLabellingRisk, Samples, ScoreRisk, marginals
from rankcut.models.joint import FrozenJointRisk, JointBagRisk
from rankcut.models.linear import LinearRisk
from rankcut.models.structural import StructuralRisk

__all__ = [
    "BagRisk",
    "EasySamples",
    "FrozenJointRisk",
    "JointBagRisk",
    "LabellingRisk",
    "LatentBagRisk",
    "LatentLabellingRisk",
    "LinearRisk",
    "Samples",
    "ScoreRisk",
    "StructuralRisk",
    "best_instances",
    "marginals",
]
