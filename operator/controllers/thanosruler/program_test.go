package thanosruler

import (
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/thanostest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// onHost are golden files that refer to files that do not exist on a test machine, or
// that require older versions.
var onHost = []string{
	"args_order", "config_secrets_win_over_lists", "web_tls", "web_tls_files", "web_tls_single",
	"args_without_gates", "images_and_resources", "version_without_v",
}

// The real program starts with the arguments and files of the pods of the golden files.
func TestProgramTakesGoldenFiles(t *testing.T) {
	program := thanostest.Find(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".txtar")])
		if slices.Contains(onHost, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := golden.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			container, err := inPod(newStory(t, c).builder())
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Check(t.Context(), container); err != nil {
				t.Errorf("%v\n%q", err, container.Args)
			}
		})
	}
}

// The real program starts with the pod of every ThanosRuler that is not rejected.
func TestProgramTakesRandomRulers(t *testing.T) {
	program := thanostest.Find(t)
	for seed := range uint64(60) {
		tr := randomRuler(t, seed, 0.4)
		withoutFiles(&tr.Spec)
		container, err := inPod(newBuilder(tr, testConfig()))
		if err != nil {
			continue
		}
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if err := program.Check(t.Context(), container); err != nil {
				t.Errorf("seed %d: %v\n%q", seed, err, container.Args)
			}
		})
	}
}

// withoutFiles clears fields that refer to files of the host or other versions, and
// additional arguments.
func withoutFiles(spec *v1.ThanosRulerSpec) {
	spec.Version, spec.AdditionalArgs = "", nil
	spec.ObjectStorageConfigFile, spec.TracingConfigFile, spec.AlertRelabelConfigFile = "", "", ""
	spec.Web, spec.GRPCServerTLSConfig = nil, nil
}

// inPod returns the container of the program and its files. Secrets of the user are empty
// files, except that of the query endpoints.
func inPod(o *builder) (thanostest.Container, error) {
	in := testInputs()
	sts, err := o.StatefulSet(in)
	if err != nil {
		return thanostest.Container{}, err
	}
	remoteWrite := "remote_write: []\n"
	if len(o.spec.RemoteWrite) > 0 {
		remoteWrite = "remote_write: [{url: http://receive}]\n"
	}
	web, err := o.WebConfigSecret()
	if err != nil {
		return thanostest.Container{}, err
	}
	secrets := append(o.TLSAssetSecrets(nil, nil), o.configSecret([]byte(remoteWrite)), web)
	for _, f := range o.files().Files[1:] { // without the remote-write configuration
		if s := f.Secret; s != nil && f.Path == "" {
			content := map[string]string{queryVolume: "- static_configs: [query]"}[f.Volume]
			secrets = append(secrets, o.Secret(s.Name, map[string][]byte{s.Key: []byte(content)}))
		}
	}
	rules := &corev1.ConfigMap{Data: map[string]string{"a.yaml": "groups: [{name: g, rules: [{record: a, expr: up}]}]"}}
	rules.Name = in.RuleConfigMaps[0]
	pod := sts.Spec.Template.Spec
	c := pod.Containers[slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == kind.Container })]
	files, err := workloadtest.Files(pod, c, secrets, []*corev1.ConfigMap{rules})
	env := workloadtest.Env(c, map[string]string{"POD_NAME": o.PrefixedName() + "-0"})
	return thanostest.Container{Args: c.Args, Env: env, Files: files}, err
}
