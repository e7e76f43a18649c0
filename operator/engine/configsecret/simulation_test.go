package configsecret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	ownReloader = "firekeeper/config-reloader:v1"
	mainSecret  = "widget-main-generated"
	mainKey     = "widget.yaml.gz"
	// small is a Secret size that a document of a few dozen pieces exceeds.
	small = 4000
)

// simulation is a workload of a made-up kind and a fake cluster to which its outputs are applied, write
// by write.
type simulation struct {
	t       *testing.T
	base    *workload.Base
	docs    *Documents
	content Content
	secrets map[string]*corev1.Secret
	sets    map[string]*appsv1.StatefulSet
	writes  []string    // of the last pass, changes only
	after   func(i int) // called after every write
}

func newSimulation(t *testing.T) *simulation {
	return &simulation{
		t: t, docs: New(nil, small), secrets: map[string]*corev1.Secret{}, sets: map[string]*appsv1.StatefulSet{},
		base: &workload.Base{
			Kind: workload.Kind{
				Row:    &catalog.Row{GroupVersionKind: schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}},
				Prefix: "widget", NameLabels: []string{"widget"},
				ConfigSecret: workload.ConfigSecret{Suffix: "-generated", Key: mainKey, Volume: "config-volume"},
			},
			Meta: &metav1.ObjectMeta{Namespace: "demo", Name: "main", UID: "1"}, Fields: &v1.WorkloadFields{},
			Config: workload.Config{ConfigReloaderImage: ownReloader},
		},
	}
}

// pieces returns n pieces of nearly incompressible text.
func pieces(n int) []*document.Piece {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]*document.Piece, n)
	for i := range out {
		text := fmt.Appendf(nil, "- name: item-%d\n  text: ", i)
		for range 60 {
			text = append(text, byte('!'+r.IntN(90)))
		}
		out[i] = document.NewPiece(fmt.Sprintf("Item/demo/item-%d", i), append(text, '\n'))
	}
	return out
}

func (w *simulation) live() engine.Live {
	out := engine.Live{Secrets: map[string]*corev1.Secret{}, StatefulSets: w.sets}
	for name, s := range w.secrets {
		out.Secrets[name] = apply.DigestSecret(s)
	}
	return out
}

func (w *simulation) output() Output {
	w.t.Helper()
	out, err := w.docs.Write(w.base, w.live(), w.content)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// pass applies one output and checks that the Secrets then hold the wanted configuration.
func (w *simulation) pass() Output {
	w.t.Helper()
	out := w.output()
	if out.Withheld != nil {
		w.t.Fatal(out.Withheld)
	}
	w.do(out.Steps)
	text, err := w.read()
	if err != nil || text != textOf(w.t, out) || strings.Count(text, "- name: ") != len(w.content.Pieces) {
		w.t.Errorf("the Secrets hold %d bytes of %d pieces, %v", len(text), len(w.content.Pieces), err)
	}
	if got := w.reported(); got != out.Hash {
		w.t.Errorf("the pods are asked for %s, they report %s", out.Hash, got)
	}
	w.sets["widget-main"] = &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: w.pod(out)}}}
	return out
}

func (w *simulation) do(steps []apply.Step) {
	w.t.Helper()
	w.writes = nil
	for i, s := range steps {
		secret := s.Object.(*corev1.Secret)
		size := 0
		for _, v := range secret.Data {
			size += len(v)
		}
		if size > small+2000 || strings.Contains(secret.Name, "-part-") && size > small {
			w.t.Errorf("Secret %s has %d bytes", secret.Name, size)
		}
		if was := w.secrets[secret.Name]; was != nil && !w.base.Owns(was) {
			w.t.Errorf("%s of another's %s", s.Verb, secret.Name)
		}
		if s.Verb == apply.Remove {
			delete(w.secrets, secret.Name)
		} else {
			if was := w.secrets[secret.Name]; was != nil && cmp.Equal(was.Data, secret.Data) {
				continue
			}
			w.secrets[secret.Name] = secret
		}
		w.writes = append(w.writes, string(s.Verb)+" "+secret.Name)
		if w.after != nil {
			w.after(i)
		}
	}
}

// pod returns the spec of the pods that run with an output.
func (w *simulation) pod(out Output) corev1.PodSpec {
	image := w.base.Config.ConfigReloaderImage
	return corev1.PodSpec{
		Volumes:        []corev1.Volume{w.base.ConfigVolume(out.InParts)},
		Containers:     []corev1.Container{{Name: workload.ContainerConfigReloader, Image: image}},
		InitContainers: []corev1.Container{{Name: workload.ContainerInitConfigReloader, Image: image}},
	}
}

// read returns the configuration that a pod starting now reads through the volume with all parts.
func (w *simulation) read() (string, error) {
	files := map[string][]byte{}
	for _, source := range w.base.ConfigVolume(true).Projected.Sources {
		s := w.secrets[source.Secret.Name]
		switch {
		case s == nil:
		case len(source.Secret.Items) == 0:
			maps.Copy(files, s.Data)
		default:
			for _, item := range source.Secret.Items {
				if content, there := s.Data[item.Key]; there {
					files[item.Path] = content
				}
			}
		}
	}
	text, _, err := parts.Read(files, mainKey)
	return string(text), err
}

// reported returns the hash that config-reloader reports for the current Secrets.
func (w *simulation) reported() string {
	data := w.secrets[mainSecret].Data
	if list, err := parts.Parse(data[parts.ListName], mainKey); err == nil {
		return list.Config.Sum()
	}
	sum := sha256.Sum256(data[mainKey])
	return hex.EncodeToString(sum[:])
}

func (w *simulation) partSecrets() (names []string) {
	for name, s := range w.secrets {
		if strings.Contains(name, "-config-part-") && w.base.Owns(s) {
			names = append(names, name)
		}
	}
	return names
}

func textOf(t *testing.T, out Output) string {
	t.Helper()
	var b strings.Builder
	if err := out.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
