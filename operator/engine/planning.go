package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Helpers for the plans of several kinds.

// PutTLSAssets adds the Secrets of TLS files to the plan and removes those that are no longer
// needed. It returns the number of Secrets. Files stay in the Secret that has them.
func (p *Plan) PutTLSAssets(b *workload.Base, files map[string][]byte, live Live) int {
	wanted := map[string]bool{}
	secrets := b.TLSAssetSecrets(files, live.tlsFiles(b))
	for _, s := range secrets {
		wanted[s.Name] = true
		p.Content = append(p.Content, apply.Step{Verb: apply.Put, Object: s})
	}
	base := strings.TrimSuffix(b.TLSAssetSecretName(0), "0")
	for _, name := range slices.Sorted(maps.Keys(live.Secrets)) {
		if rest, ok := strings.CutPrefix(name, base); ok && isNumber(rest) && !wanted[name] && b.Owns(live.Secrets[name]) {
			surplus := &corev1.Secret{ObjectMeta: b.Identity(name)}
			p.Content = append(p.Content, apply.Step{Verb: apply.Remove, Object: surplus})
		}
	}
	return len(secrets)
}

// tlsFiles returns the index of the workload's TLS asset Secret that currently holds each file.
func (l Live) tlsFiles(b *workload.Base) map[string]int {
	out := map[string]int{}
	for i := 0; ; i++ {
		s := l.tlsSecret(b, i)
		if s == nil {
			return out
		}
		for file := range s.StringData { // digests of the files, see apply.DigestSecret
			out[file] = i
		}
	}
}

// Put adds objects to the content of the plan.
func (p *Plan) Put(objects ...apply.Object) {
	for _, o := range objects {
		p.Content = append(p.Content, apply.Step{Verb: apply.Put, Object: o})
	}
}

// TLSSecrets returns the number of existing TLS asset Secrets of a workload.
func (l Live) TLSSecrets(b *workload.Base) (n int) {
	for l.tlsSecret(b, n) != nil {
		n++
	}
	return n
}

// tlsSecret returns a TLS asset Secret of a workload, nil if it does not exist or another workload owns that of this name.
func (l Live) tlsSecret(b *workload.Base, n int) *corev1.Secret {
	if s := l.Secrets[b.TLSAssetSecretName(n)]; s != nil && b.Owns(s) {
		return s
	}
	return nil
}

// PlainConfig returns the configuration of a kind that does not compress it.
func PlainConfig(text []byte) Plain {
	return Plain{Part: ConfigPart, Text: func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}}
}

// Pods builds the objects that run the pods of a workload with one StatefulSet.
type Pods interface {
	owner
	workload.ServiceUser
	// PrefixedName returns the name of the StatefulSet.
	PrefixedName() string
	// InputHash returns [workload.Base.HashOf]. While it equals the annotation of the live object,
	// the StatefulSet need not be written.
	InputHash(live *appsv1.StatefulSet, in workload.PodInputs) (string, error)
	// StatefulSet returns the StatefulSet that runs the pods. It shares no memory with the
	// workload.
	//
	// Errors: a fault of the spec; an image or volume name that does not parse; a name that
	// results in names the API server rejects; additional arguments that the operator sets itself;
	// a container patch that does not merge.
	StatefulSet(in workload.PodInputs) (*appsv1.StatefulSet, error)
}

// owner recognizes and identifies objects of a workload.
type owner interface {
	Owns(obj metav1.Object) bool
	Identity(name string) metav1.ObjectMeta
}

// PutPods adds the objects that run the pods to the plan: the shared Service, and the StatefulSet,
// whose hash it computes. It removes other StatefulSets of the workload.
//
// of converts a workload of the kind. Errors: those of pods.
func (p *Plan) PutPods(pods Pods, in workload.PodInputs, live Live, of func(v1.Workload) workload.ServiceUser) (err error) {
	p.PutService(pods, live, of)
	if in.Hash, err = pods.InputHash(live.StatefulSets[pods.PrefixedName()], in); err != nil {
		return err
	}
	sts, err := pods.StatefulSet(in)
	if err != nil {
		return err
	}
	p.Workload = append(p.Workload, apply.Step{Verb: apply.Put, Object: sts})
	p.RemoveUnwanted(pods, live, sts.Name)
	return nil
}

// Deprecated is a field that has been replaced.
type Deprecated struct {
	Field, Use string
	Set        bool // whether the workload uses it
}

// Deprecate reports the deprecated fields that the workload uses.
func (p *Plan) Deprecate(fields ...Deprecated) {
	var used []string
	for _, f := range fields {
		if f.Set {
			p.Deprecated = append(p.Deprecated, f)
			used = append(used, f.Field+" is deprecated, use "+f.Use)
		}
	}
	if len(used) > 0 {
		p.Reason, p.Message = ReasonDeprecated, strings.Join(used, "; ")
	}
}

// LeaveOut reports objects that exceed a limit. This takes precedence over other reports. remedy
// is the advice for staying within the limit.
func (p *Plan) LeaveOut(left []share.LeftOut, remedy string) {
	if text := share.Message(left, remedy); text != "" {
		p.Reason, p.Message = ReasonLeftOut, text
	}
}

// PutService adds the Service that all workloads of the namespace share to the plan, if this one
// uses it. A workload that no longer uses it is removed from it by the next reconciliation of
// another one.
//
// of converts a workload of the kind.
func (p *Plan) PutService(u workload.ServiceUser, live Live, of func(v1.Workload) workload.ServiceUser) {
	ports := u.ServicePorts()
	if len(ports) == 0 {
		return
	}
	svc, lost := u.SharedService(ports, live.serviceUsers(of))
	p.Warnings = append(p.Warnings, lost...)
	step := apply.Step{Verb: apply.Put, Object: svc}
	if live.sharing != nil {
		step.Settled = &live.sharing.live
	}
	p.Workload = append(p.Workload, step)
}

// Unwanted returns the names of the workload's live StatefulSets that are not wanted, in order.
func (l Live) Unwanted(b owner, wanted ...string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l.StatefulSets)) {
		if s := l.StatefulSets[name]; !slices.Contains(wanted, name) && s.DeletionTimestamp == nil && b.Owns(s) {
			out = append(out, name)
		}
	}
	return out
}

// RemoveUnwanted removes the live StatefulSets of the workload except the wanted ones.
func (p *Plan) RemoveUnwanted(b owner, live Live, wanted ...string) {
	for _, name := range live.Unwanted(b, wanted...) {
		gone := &appsv1.StatefulSet{ObjectMeta: b.Identity(name)}
		p.Workload = append(p.Workload, apply.Step{Verb: apply.Remove, Object: gone})
	}
}

// ContentHash returns a hash that changes only if a running pod could pick up a change: it covers
// the Secrets that the pod mounts, except those to skip, and files, independent of their location.
func (p *Plan) ContentHash(skip map[string]bool, files ...iter.Seq2[string, [sha256.Size]byte]) string {
	h := sha256.New()
	for i := range p.Content {
		s := &p.Content[i]
		secret, ok := s.Object.(*corev1.Secret)
		if !ok || s.Verb != apply.Put || skip[secret.Name] {
			continue
		}
		fmt.Fprintf(h, "%s\x00", secret.Name)
		sums := s.Sums()
		for _, key := range slices.Sorted(maps.Keys(sums)) {
			fmt.Fprintf(h, "%s\x00%s", key, sums[key])
		}
	}
	for _, some := range files {
		for name, sum := range some {
			fmt.Fprintf(h, "%s\x00", name)
			h.Write(sum[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// AllDropped returns what is left out of a workload and of the objects that it selects, because its
// version does not support it, human-readable and sorted.
func (k *Kind) AllDropped(w v1.Workload, results iter.Seq[fragments.Result], own []gate.Dropped) []string {
	seen := map[string]bool{}
	for _, f := range fragments.Unsupported(w, k.Program, own) {
		seen[f.String()] = true
	}
	for v := range results {
		for _, f := range v.Unsupported(k.Program) {
			seen[catalog.RefOf(v.Kind, v.Object).String()+": "+f.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
