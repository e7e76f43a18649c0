package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Helpers for the plans of several kinds.

// PutTLSAssets adds the Secrets of TLS files to the plan and removes those that are no longer
// needed. It returns the number of Secrets. Files stay in the Secret that has them.
func (p *Plan) PutTLSAssets(b *workload.Base, files map[string][]byte, live Live) int {
	wanted := map[string]bool{}
	secrets := b.TLSAssetSecrets(files, tlsFiles(b, live.Secrets))
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
func tlsFiles(b *workload.Base, secrets map[string]*corev1.Secret) map[string]int {
	out := map[string]int{}
	for i := 0; ; i++ {
		s := secrets[b.TLSAssetSecretName(i)]
		if s == nil || !b.Owns(s) {
			return out
		}
		for file := range s.StringData { // digests of the files, see apply.DigestSecret
			out[file] = i
		}
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
	var peers []workload.Peer
	for _, peer := range live.Peers {
		peers = append(peers, workload.PeerOf(of(peer.Workload), peer.Foreign))
	}
	svc, lost := u.SharedService(ports, peers)
	p.Warnings = append(p.Warnings, lost...)
	p.Workload = append(p.Workload, apply.Step{Verb: apply.Put, Object: svc})
}

// Unwanted returns the names of the workload's live StatefulSets that are not wanted, in order.
func (l Live) Unwanted(b *workload.Base, wanted ...string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l.StatefulSets)) {
		if s := l.StatefulSets[name]; !slices.Contains(wanted, name) && s.DeletionTimestamp == nil && b.Owns(s) {
			out = append(out, name)
		}
	}
	return out
}

// PutSet adds one StatefulSet to the plan and removes all others of the workload.
func (p *Plan) PutSet(b *workload.Base, sts *appsv1.StatefulSet, live Live) {
	p.Workload = append(p.Workload, apply.Step{Verb: apply.Put, Object: sts})
	p.RemoveUnwanted(b, live, sts.Name)
}

// RemoveUnwanted removes the live StatefulSets of the workload except the wanted ones.
func (p *Plan) RemoveUnwanted(b *workload.Base, live Live, wanted ...string) {
	for _, name := range live.Unwanted(b, wanted...) {
		gone := &appsv1.StatefulSet{ObjectMeta: b.Identity(name)}
		p.Workload = append(p.Workload, apply.Step{Verb: apply.Remove, Object: gone})
	}
}

// ContentHash returns a hash that changes only if a running pod could pick up a change: it covers
// the Secrets that the pod mounts, except those to skip, and files, independent of their location.
func (p *Plan) ContentHash(skip map[string]bool, files ...iter.Seq2[string, [sha256.Size]byte]) string {
	h := sha256.New()
	for _, s := range p.Content {
		secret, ok := s.Object.(*corev1.Secret)
		if !ok || s.Verb != apply.Put || skip[secret.Name] {
			continue
		}
		fmt.Fprintf(h, "%s\x00", secret.Name)
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			fmt.Fprintf(h, "%s\x00%d\x00", key, len(secret.Data[key]))
			h.Write(secret.Data[key])
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

// AllDropped returns the left-out fields of the workload itself and of the objects that it selects,
// human-readable and sorted.
func AllDropped(verdicts iter.Seq[compiled.Verdict], own []gate.Dropped) []string {
	seen := map[string]bool{}
	for _, d := range own {
		seen[d.String()] = true
	}
	for v := range verdicts {
		for _, d := range v.Dropped {
			seen[catalog.RefOf(v.Kind, v.Object).String()+": "+d.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
