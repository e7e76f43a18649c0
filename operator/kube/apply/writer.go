package apply

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Caches holds the informer stores of the objects that the operator owns. Secrets must have
// been trimmed by [DigestSecret], ConfigMaps by [DigestConfigMap].
type Caches struct {
	Secrets      Cache[*corev1.Secret]
	ConfigMaps   Cache[*corev1.ConfigMap]
	Services     Cache[*corev1.Service]
	StatefulSets Cache[*appsv1.StatefulSet]
	DaemonSets   Cache[*appsv1.DaemonSet] // nil: DaemonSets are not supported
}

// Writer writes objects. It is safe for concurrent use if no two callers write the same
// object at the same time.
type Writer struct {
	kube         kubernetes.Interface
	secrets      kind[*corev1.Secret]
	configMaps   kind[*corev1.ConfigMap]
	services     kind[*corev1.Service]
	statefulSets kind[*appsv1.StatefulSet]
	daemonSets   kind[*appsv1.DaemonSet]
	nodes        *written // specs from which daemonSets were written

	// OnRecreate is called when a StatefulSet must be deleted because the API server
	// rejected an update of an immutable field.
	OnRecreate func(Recreation)
	// HoldImages are images that do not replace running pods on their own: a container that
	// wants one keeps its image until the pods change for another reason.
	HoldImages []string
	// UsesService reports whether an owner of a shared Service uses it; known is false for unknown owners.
	UsesService func(namespace string, ref metav1.OwnerReference) (uses, known bool)
	// OnOverwrite is called when a write has overwritten a foreign change.
	OnOverwrite func(kind string)

	orphans   orphans
	conflicts conflicts
}

// NewWriter returns a writer.
func NewWriter(kube kubernetes.Interface, c Caches) *Writer {
	nodes := &written{}
	w := &Writer{
		kube: kube, nodes: nodes,
		secrets: kind[*corev1.Secret]{
			name: "Secret", view: newView(c.Secrets),
			api:  func(ns string) endpoint[*corev1.Secret] { return secretsOf(kube, ns) },
			copy: copyMeta[corev1.Secret], merge: mergeMeta[*corev1.Secret], keep: DigestSecret,
			frozen: func(live *corev1.Secret) bool {
				return isTrue(live.Immutable) || (live.Type != "" && live.Type != corev1.SecretTypeOpaque)
			},
		},
		configMaps: kind[*corev1.ConfigMap]{
			name: "ConfigMap", view: newView(c.ConfigMaps),
			api:  func(ns string) endpoint[*corev1.ConfigMap] { return configMapsOf(kube, ns) },
			copy: copyMeta[corev1.ConfigMap], merge: mergeMeta[*corev1.ConfigMap], keep: DigestConfigMap,
			same: func(want, live *corev1.ConfigMap) bool {
				return sameMeta(want, live) && sameMap(want.Data, live.Data) && len(live.BinaryData) == len(want.BinaryData)
			},
			summary: func(want *corev1.ConfigMap) *corev1.ConfigMap {
				return &corev1.ConfigMap{ObjectMeta: want.ObjectMeta, Immutable: want.Immutable, BinaryData: binary(want.Data)}
			},
			frozen: func(live *corev1.ConfigMap) bool { return isTrue(live.Immutable) },
		},
		services: kind[*corev1.Service]{
			name: "Service", view: newView(c.Services), copy: (*corev1.Service).DeepCopy,
			api: func(ns string) endpoint[*corev1.Service] { return kube.CoreV1().Services(ns) },
		},
		statefulSets: kind[*appsv1.StatefulSet]{
			name: "StatefulSet", view: newView(c.StatefulSets), copy: (*appsv1.StatefulSet).DeepCopy,
			api:   func(ns string) endpoint[*appsv1.StatefulSet] { return kube.AppsV1().StatefulSets(ns) },
			merge: mergeStatefulSet, same: sameInput, hasPods: true,
		},
		daemonSets: kind[*appsv1.DaemonSet]{
			name: "DaemonSet", view: newView(c.DaemonSets), copy: (*appsv1.DaemonSet).DeepCopy,
			api:   func(ns string) endpoint[*appsv1.DaemonSet] { return kube.AppsV1().DaemonSets(ns) },
			merge: mergeDaemonSet, same: nodes.same, wrote: nodes.note, hasPods: true,
		},
		UsesService: func(_ string, ref metav1.OwnerReference) (bool, bool) { return true, true },
		OnRecreate:  func(Recreation) {}, OnOverwrite: func(string) {},
	}
	w.services.merge, w.services.same = w.mergeService, w.sameService
	w.conflicts.overwrote = func(kind string) { w.OnOverwrite(kind) }
	for _, c := range []**conflicts{&w.secrets.conflicts, &w.configMaps.conflicts, &w.services.conflicts, &w.statefulSets.conflicts, &w.daemonSets.conflicts} {
		*c = &w.conflicts
	}
	return w
}

// Secret creates or updates a Secret.
func (w *Writer) Secret(ctx context.Context, want *corev1.Secret) (Change, error) {
	return w.putSecret(ctx, want, digests(want.Data))
}

// putSecret creates or updates a Secret. sums are the digests of its values.
func (w *Writer) putSecret(ctx context.Context, want *corev1.Secret, sums map[string]string) (Change, error) {
	return w.secretOf(want, sums).upsert(ctx, want)
}

// ConfigMap creates or updates a ConfigMap.
func (w *Writer) ConfigMap(ctx context.Context, want *corev1.ConfigMap) (Change, error) {
	return w.putConfigMap(ctx, want, digests(want.Data), func() map[string]Value { return plainValues(want.Data) })
}

// putConfigMap creates or updates a ConfigMap. sums are the digests of its texts, which values returns.
func (w *Writer) putConfigMap(ctx context.Context, want *corev1.ConfigMap, sums map[string]string, values func() map[string]Value) (Change, error) {
	return w.configMapOf(values).upsert(ctx, digestedConfigMap(want, sums))
}

// Secrets returns the view of the Secrets that the operator owns, trimmed by [DigestSecret].
func (w *Writer) Secrets() *View[*corev1.Secret] { return w.secrets.view }

// ConfigMaps returns the view of the ConfigMaps that the operator owns, trimmed by [DigestConfigMap].
func (w *Writer) ConfigMaps() *View[*corev1.ConfigMap] { return w.configMaps.view }

// FindSecret returns a Secret that the operator owns, from the API server if the view may lack it.
func (w *Writer) FindSecret(ctx context.Context, namespace, name string) (*corev1.Secret, bool, error) {
	return w.secrets.find(ctx, namespace, name)
}

// FindConfigMap returns a ConfigMap that the operator owns, from the API server if the view may lack it.
func (w *Writer) FindConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, bool, error) {
	return w.configMaps.find(ctx, namespace, name)
}

// Services returns the view of the Services that the operator owns.
func (w *Writer) Services() *View[*corev1.Service] { return w.services.view }

// StatefulSets returns the view of the StatefulSets that the operator owns.
func (w *Writer) StatefulSets() *View[*appsv1.StatefulSet] { return w.statefulSets.view }

// DaemonSets returns the view of the DaemonSets that the operator owns. Report deletions to
// [Writer.ForgetDaemonSet] and not to the view.
func (w *Writer) DaemonSets() *View[*appsv1.DaemonSet] { return w.daemonSets.view }

func isTrue(b *bool) bool { return b != nil && *b }
