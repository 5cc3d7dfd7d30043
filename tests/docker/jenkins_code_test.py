"""Jenkins as code in compose: the job that is created, plugins for each step, and values that the container has.

Neither Jenkins nor its plugins can be had where this runs, so the names are compared with lists of what they accept.
"""

import json
import os
import re
import subprocess

import pytest

# Roots and attributes of configuration-as-code that are used, by the plugins in plugins.txt.
ATTRIBUTES = {
    "jenkins": {
        "systemMessage",
        "numExecutors",
        "slaveAgentPort",
        "securityRealm",
        "authorizationStrategy",
        "crumbIssuer",
        "globalNodeProperties",
    },
    "credentials": {"system"},
    "unclassified": {"location", "mailer"},
    "jobs": None,
}
# Which plugin has a step or directive of the Jenkinsfile; core and `workflow-basic-steps` have the others.
PLUGINS = {
    "pipeline": "pipeline-model-definition",
    "timestamps": "timestamper",
    "junit": "junit",
    "recordIssues": "warnings-ng",
    "withCredentials": "credentials-binding",
    "sh": "workflow-durable-task-step",
    "mail": "workflow-basic-steps",
    "archiveArtifacts": "workflow-basic-steps",
    "unstable": "workflow-basic-steps",
    "script": "workflow-cps",
}


@pytest.fixture(scope="module")
def folder(root):
    return root / "docker/jenkins"


@pytest.fixture(scope="module")
def plugins(folder):
    lines = [line for line in (folder / "plugins.txt").read_text().splitlines() if not line.startswith("#")]
    return dict(line.split(":") for line in lines)


@pytest.fixture
def configuration(folder, load_yaml):
    return load_yaml(folder / "jenkins.yaml")


@pytest.fixture(scope="module")
def job(folder, root, services):
    """What the script of Job DSL calls, with the environment of the container."""
    command = ["groovy", root / "tests/docker/jenkins_code.groovy", folder / "breakwatch.groovy"]
    env = os.environ | services["jenkins"]["environment"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_creates_the_job_of_the_jenkinsfile(job, root, services):
    assert list(job) == ["pipelineJob breakwatch"]
    source = job["pipelineJob breakwatch"]["definition"]["cpsScm"]
    assert (root / source["scriptPath"]).exists()
    address = source["scm"]["git"]["remote"]["url"]
    mounted = [mount["target"] for mount in services["jenkins"]["volumes"]]
    assert address.removeprefix("file://") + "/.git" in mounted, "the clone, and none of its secrets"
    assert source["scm"]["git"]["branch"] == "main"


def test_the_first_build_is_at_night_like_the_others(job, root):
    trigger = job["pipelineJob breakwatch"]["properties"]["pipelineTriggers"]["triggers"]["cron"]["spec"]
    assert f"cron('{trigger}')" in (root / "Jenkinsfile").read_text()


def test_pins_a_plugin_for_each_step_of_the_jenkinsfile(plugins, root):
    assert all(re.fullmatch(r"[0-9][\w.-]*", version) for version in plugins.values())
    text = (root / "Jenkinsfile").read_text()
    for step, plugin in PLUGINS.items():
        assert re.search(rf"\b{step}\b", text), f"{step} is not used"
        assert plugin in plugins, step
    assert {"configuration-as-code", "job-dsl", "git", "plain-credentials"} <= plugins.keys()


def test_plugins_are_those_of_the_release(folder):
    release = re.search(r"jenkins/jenkins:(\d+\.\d+)\.", (folder / "Dockerfile").read_text())[1]
    assert f"bom-{release}.x" in (folder / "plugins.txt").read_text()


def test_configures_what_the_plugins_know(configuration):
    assert configuration.keys() == ATTRIBUTES.keys()
    for name, known in ATTRIBUTES.items():
        assert known is None or configuration[name].keys() == known, name


def test_nobody_signs_in_without_the_password_of_a_file(configuration):
    realm = configuration["jenkins"]["securityRealm"]["local"]
    assert realm["allowsSignup"] is False
    assert [user["password"] for user in realm["users"]] == ["${jenkins_admin_password}"]
    strategy = configuration["jenkins"]["authorizationStrategy"]["loggedInUsersCanDoAnything"]
    assert strategy["allowAnonymousRead"] is False


def test_values_are_secrets_or_variables_of_the_container(folder, services):
    service = services["jenkins"]
    known = {secret["source"] for secret in service["secrets"]} | service["environment"].keys()
    used = re.findall(r"\$\{(\w+)(?::-[^}]*)?\}", re.sub("^#.*", "", (folder / "jenkins.yaml").read_text(), flags=re.M))
    assert set(used) - {"NAME"} <= known
    used = re.findall(r"getenv\('(\w+)'\)", (folder / "breakwatch.groovy").read_text())
    assert used and set(used) <= service["environment"].keys()


def test_reads_the_files_that_compose_mounts(configuration, services):
    mounted = [mount["target"] for mount in services["jenkins"]["volumes"]]
    assert [job["file"] for job in configuration["jobs"]] == ["/etc/jenkins/breakwatch.groovy"]
    assert {"/etc/jenkins/breakwatch.groovy", services["jenkins"]["environment"]["CASC_JENKINS_CONFIG"]} <= set(mounted)


def test_global_variables_are_settings_that_the_jenkinsfile_takes(configuration, root, setting_variables):
    (properties,) = configuration["jenkins"]["globalNodeProperties"]
    for variable in (one["key"] for one in properties["envVars"]["env"]):
        assert variable in setting_variables
        assert f"env.{variable} ?: ''" in (root / "Jenkinsfile").read_text()
