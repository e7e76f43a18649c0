package prometheus

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/promworkload"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const referenceReloader = "quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0"

// takenOver returns a simulation after a takeover as in docs/takeover.md: the pods of the
// reference are kept.
func takenOver(t *testing.T) *simulation {
	t.Helper()
	w := newSimulation(t, workload.LayoutSingle)
	w.config.ConfigReloaderImage = referenceReloader
	return w
}

// readAsReference returns the configuration that the reference's reloader reads from the
// mounted Secret.
func (w *simulation) readAsReference() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(w.secrets["prometheus-main"].Data[promworkload.ConfigKey]))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// bulkyMonitors returns ServiceMonitors of about 310 bytes when compressed.
func bulkyMonitors(n int) []*v1.ServiceMonitor {
	r := rand.New(rand.NewPCG(7, 8))
	out := distinctMonitors(n)
	for _, m := range out {
		for i := range 20 {
			m.Spec.Selector.MatchLabels[fmt.Sprintf("label-%d", i)] = word(r)
		}
	}
	return out
}

// A configuration that fits into the Secret of the reference fits here too, and no pod
// changes.
func TestTakeoverOfALargeConfiguration(t *testing.T) {
	all := bulkyMonitors(3100)
	w := takenOver(t)
	w.docs, w.max = configsecret.New(nil, 0), configsecret.MaxBytes
	w.services = all[:10]
	w.pass()
	before := w.template()
	for n, least := range map[int]int{2750: 900_000, 3100: 1_000_000} {
		w.services = all[:n]
		w.pass()
		text, err := w.readAsReference()
		if err != nil || strings.Count(text, "- job_name:") != n {
			t.Fatalf("%d monitors: the reference's reloader reads %d bytes, %v", n, len(text), err)
		}
		var reference bytes.Buffer
		gz := gzip.NewWriter(&reference)
		if _, err := gz.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := gz.Close(); err != nil {
			t.Fatal(err)
		}
		if reference.Len() < least || reference.Len() > configsecret.MaxBytes {
			t.Errorf("%d monitors: the reference writes %d bytes, which shows nothing", n, reference.Len())
		}
		if diff := cmp.Diff(before, w.template()); diff != "" || len(w.partSecrets()) > 0 {
			t.Errorf("%d monitors: parts %v, another pod:\n%s", n, w.partSecrets(), diff)
		}
	}
}

// withImage returns a container patch that changes the image.
func withImage(name, image string) []corev1.Container {
	return []corev1.Container{{Name: name, Image: image}}
}

// If the pods cannot read parts, objects that do not fit into one Secret are rejected,
// and the condition explains what to do.
func TestNoPartsForWhoCannotReadThem(t *testing.T) {
	fields := func(w *simulation) *v1.CommonPrometheusFields { return w.owner.Fields }
	rules := bulkyRules(45)
	for name, tc := range map[string]struct {
		layout workload.Layout
		change func(*simulation)
		want   string
	}{
		"the reference's image": {workload.LayoutSingle, func(w *simulation) { w.config.ConfigReloaderImage = referenceReloader },
			`image "` + referenceReloader + `" of container config-reloader (--prometheus-config-reloader) is not known to read a configuration in parts: use the config-reloader of this operator, or name the image's repository with --parts-capable-reloaders`},
		"the reference's image in the layout of ours": {workload.LayoutSplit, func(w *simulation) { w.config.ConfigReloaderImage = referenceReloader }, "--prometheus-config-reloader"},
		"a mirror that the user sets": {workload.LayoutSplit, func(w *simulation) {
			fields(w).Containers = withImage("config-reloader", "registry.example.org/mirror/prometheus-config-reloader:v0.93.0")
		}, `container config-reloader (spec.containers)`},
		"only the init container": {workload.LayoutSplit, func(w *simulation) {
			fields(w).InitContainers = withImage("init-config-reloader", "mirror/reloader@sha256:"+strings.Repeat("a", 64))
		}, `container init-config-reloader (spec.initContainers)`},
	} {
		t.Run(name, func(t *testing.T) {
			all := distinctMonitors(300)
			w := newSimulation(t, tc.layout)
			tc.change(w)
			w.services, w.rules = all[:10], rules
			w.pass()
			if len(w.maps) < 4 {
				t.Errorf("%d ConfigMaps: rules are missing", len(w.maps))
			}
			secrets, template := maps.Clone(w.secrets), w.template().DeepCopy()
			if w.owner.builder(benchConfig).ReadsParts(&template.Spec) {
				t.Error("the pod mounts parts")
			}
			w.services = all
			w.owner.Fields.LogLevel = "debug" // other changes are still applied
			in, plan, err := w.desired()
			if err != nil || plan.Reason != engine.ReasonLeftOut || !strings.Contains(plan.Message, tc.want) {
				t.Errorf("error %v, %s: %s", err, plan.Reason, plan.Message)
			}
			left := 0
			for _, n := range leftOut(t, in) {
				left += n
			}
			if left < 100 || left > 290 {
				t.Errorf("%d of 300 monitors are left out", left)
			}
			for _, s := range slices.Concat(plan.Content, plan.Workload) {
				w.write(s)
			}
			if maps.Equal(secrets, w.secrets) || len(w.partSecrets()) > 0 {
				t.Errorf("no content, or parts %v", w.partSecrets())
			}
			if diff := cmp.Diff(template.Spec.Volumes, w.template().Spec.Volumes); diff != "" {
				t.Errorf("other volumes:\n%s", diff)
			}
			if cmp.Equal(template.Spec.Containers, w.template().Spec.Containers) {
				t.Error("the change of the log level was not written")
			}
			w.owner.Fields.Containers, w.owner.Fields.InitContainers = nil, nil
			w.config.PartsReaders = []string{"quay.io/prometheus-operator/prometheus-config-reloader"} // as if it supported parts
			w.replacePods()
			if w.pass(); len(w.partSecrets()) == 0 {
				t.Error("there are no parts although all can read them")
			}
		})
	}
}

// Parts are not written while any pod cannot read them, since it may restart.
func TestPartsWaitForTheLastPod(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	all := distinctMonitors(300)
	w.services = all[:10]
	w.pass()
	known := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-main-0"}, Spec: workload.TrimReloaders(&w.template().Spec)}
	held := known.DeepCopy()
	held.Name, held.Spec.InitContainers[0].Image = "prometheus-main-1", referenceReloader
	over := held.DeepCopy()
	over.Status.Phase = corev1.PodFailed
	w.services = all

	w.running = []*corev1.Pod{known, held}
	if _, _, err := w.desired(); err == nil || !strings.Contains(err.Error(), `now pod prometheus-main-1: container init-config-reloader still has image "`+referenceReloader) {
		t.Errorf("error %v", err)
	}
	w.running = []*corev1.Pod{known, over}
	template := w.template().DeepCopy()
	w.template().Spec.Containers[1].Image = referenceReloader // an update that is held back
	if _, _, err := w.desired(); err == nil || !strings.Contains(err.Error(), "StatefulSet prometheus-main: container config-reloader") {
		t.Errorf("error %v", err)
	}
	w.shards["prometheus-main"].Spec.Template = *template
	if w.pass(); len(w.partSecrets()) == 0 {
		t.Error("no parts")
	}
}

// While the configuration is in parts, no pods are created that could not read it.
func TestAConfigurationInPartsKeepsItsReaders(t *testing.T) {
	w := newSimulation(t, workload.LayoutSplit)
	w.services = distinctMonitors(300)
	w.pass()
	w.owner.Fields.Containers = withImage("config-reloader", referenceReloader)
	_, plan, err := w.desired()
	if err == nil || len(plan.Content)+len(plan.Workload) > 0 {
		t.Errorf("%v, %v, %v", err, steps(plan.Content), steps(plan.Workload))
	}
	w.services = w.services[:10] // it fits again: it is written first, then the pods change
	w.pass()
	if len(w.partSecrets()) > 0 || w.template().Spec.Containers[1].Image != referenceReloader {
		t.Errorf("parts %v, image %s", w.partSecrets(), w.template().Spec.Containers[1].Image)
	}
	if text, err := w.readAsReference(); err != nil || strings.Count(text, "- job_name:") != 10 {
		t.Errorf("the reference's reloader reads %d bytes, %v", len(text), err)
	}
}

// Even if the operator stops after any write and another change follows, a starting pod
// can read a configuration at any time.
func TestEveryInterruptionLeavesAVersion(t *testing.T) {
	all := distinctMonitors(320)
	for stop := range 10 {
		w := newSimulation(t, workload.LayoutSplit)
		w.services = all[:40]
		w.pass()
		known := map[string]bool{}
		remember := func() {
			text, _, err := w.read()
			if err != nil {
				t.Fatal(err)
			}
			known[text] = true
		}
		remember()
		for _, services := range [][]*v1.ServiceMonitor{all[:320], all[20:320], all[:200], all[100:320], all[:10], all[:300]} {
			w.services = services
			w.docs = configsecret.New(nil, smallSecret) // the operator restarts
			_, plan, err := w.desired()
			if err != nil {
				t.Fatal(err)
			}
			var next strings.Builder
			if err := plan.WriteConfig(&next); err != nil {
				t.Fatal(err)
			}
			known[next.String()] = true
			for i, s := range plan.Content {
				if i == stop {
					break
				}
				w.write(s)
				if text, _, err := w.read(); err != nil || !known[text] {
					t.Fatalf("stopped after %d writes, after %s: %d bytes, %v", stop, steps(plan.Content[i:i+1]), len(text), err)
				}
			}
		}
		w.services = all[:300]
		w.pass()
	}
}
