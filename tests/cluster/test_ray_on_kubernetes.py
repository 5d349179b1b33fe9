"""The manifest in docs/cluster.md: its pods have the fields of Kubernetes, the rest those of KubeRay's RayCluster, and KubeRay's
operator accepts it."""

import json
import re
from importlib.metadata import requires
from pathlib import Path

import pytest

validate_kubernetes = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
jsonschema = pytest.importorskip("jsonschema")
requirements = pytest.importorskip("packaging.requirements")
yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
KUBERNETES = "1.37"
OLDEST_WITH_TOKENS = "2.52.0"
TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
CHECKED_APART = {"type": "object"}
"""Kubernetes' own schemas describe these fields, or the manifest does not use them."""


def fields(required=(), **types):
    return {"type": "object", "properties": types, "required": list(required), "additionalProperties": False}


# The fields of version v1 in KubeRay's CustomResourceDefinition `rayclusters.ray.io`, of release 1.5 and newer.
GROUP = {"labels": TEXTS, "rayStartParams": TEXTS, "resources": TEXTS, "template": CHECKED_APART}
HEAD = fields(["template"], **GROUP, enableIngress=FLAG, headService=CHECKED_APART, serviceType=TEXT)
WORKERS = fields(
    ["groupName", "maxReplicas", "minReplicas", "template"],
    **GROUP,
    groupName=TEXT,
    idleTimeoutSeconds=NUMBER,
    maxReplicas=NUMBER,
    minReplicas=NUMBER,
    numOfHosts=NUMBER,
    replicas=NUMBER,
    scaleStrategy=CHECKED_APART,
    suspend=FLAG,
)
SPEC = fields(
    ["headGroupSpec"],
    authOptions=fields(mode={"enum": ["disabled", "token"]}, enableK8sTokenAuth=FLAG, secretName=TEXT),
    autoscalerOptions=CHECKED_APART,
    enableInTreeAutoscaling=FLAG,
    gcsFaultToleranceOptions=CHECKED_APART,
    headGroupSpec=HEAD,
    headServiceAnnotations=TEXTS,
    managedBy=TEXT,
    rayVersion=TEXT,
    suspend=FLAG,
    upgradeStrategy=CHECKED_APART,
    workerGroupSpecs={"type": "array", "items": WORKERS},
)
RAY_CLUSTER = fields(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayCluster"},
    metadata=fields(["name"], name={"type": "string", "pattern": "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"}),
    spec=SPEC,
)


@pytest.fixture
def manifest():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/cluster.md").read_text(), re.DOTALL)
    (only,) = (block for block in blocks if "kind: RayCluster" in block)
    return json.loads(json.dumps(yaml.safe_load(only)))  # without the anchor: each group has a template of its own


def groups(manifest):
    return [manifest["spec"]["headGroupSpec"], *manifest["spec"]["workerGroupSpecs"]]


def check(manifest):
    """Raises a ValueError that names what the API server, or then the operator, would refuse."""
    try:
        jsonschema.validate(manifest, RAY_CLUSTER)
        for group in groups(manifest):
            pod = {"apiVersion": "v1", "kind": "PodTemplate", "template": group["template"]}
            validate_kubernetes.validate(pod, KUBERNETES, strict=True)
    except jsonschema.ValidationError as error:
        raise ValueError(error.message) from error
    spec = manifest["spec"]
    if spec.get("authOptions", {}).get("mode") == "token" and "rayVersion" not in spec:
        raise ValueError(f"tokens need a rayVersion, {OLDEST_WITH_TOKENS} or newer")


def test_the_manifest_is_accepted(manifest):
    check(manifest)


def test_its_version_of_ray_has_tokens_and_is_supported(manifest):
    ray = next(one for one in map(requirements.Requirement, requires("paddle_mini")) if one.name == "ray")
    version = manifest["spec"]["rayVersion"]
    assert version in ray.specifier and version in requirements.Requirement(f"ray>={OLDEST_WITH_TOKENS}").specifier


def test_volumes_that_containers_mount_exist(manifest):
    for group in groups(manifest):
        pod = group["template"]["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for one in pod["containers"] for mount in one["volumeMounts"]} == volumes


REFUSED = {
    "'workerGroupSpec' was unexpected": lambda m: m["spec"].update(workerGroupSpec=m["spec"].pop("workerGroupSpecs")),
    "0 is not of type 'string'": lambda m: m["spec"]["headGroupSpec"]["rayStartParams"].update({"num-cpus": 0}),
    "'template' is a required property": lambda m: m["spec"]["headGroupSpec"].pop("template"),
    "'maxReplicas' is a required property": lambda m: m["spec"]["workerGroupSpecs"][0].pop("maxReplicas"),
    "'tokens' is not one of": lambda m: m["spec"].update(authOptions={"mode": "tokens"}),
    "'volumeMount' was unexpected": lambda m: groups(m)[1]["template"]["spec"]["containers"][0].update(volumeMount=[]),
    "'name' is a required property": lambda m: groups(m)[0]["template"]["spec"]["volumes"].append({"emptyDir": {}}),
    "tokens need a rayVersion": lambda m: m["spec"].pop("rayVersion"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_wrong_manifest_is_refused(manifest, message):
    REFUSED[message](manifest)
    with pytest.raises(ValueError, match=re.escape(message)):
        check(manifest)
