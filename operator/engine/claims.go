package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// Growth is a PVC that must be expanded.
type Growth struct {
	StatefulSet string // owner of the pod that uses the claim
	Claim       string
	From, To    resource.Quantity
}

// growth holds the storage changes of a plan besides its StatefulSets.
type growth struct {
	// growths are the claims that must grow before Workload is written.
	growths []Growth
	// larger are messages about claims that are larger than requested, unbound about claims of
	// another size that cannot be resized yet.
	larger, unbound []string
}

// compareClaims compares the storage that StatefulSets request with the claims of their pods. If
// claims is nil, it is a no-op.
func (p *Plan) compareClaims(claims []*corev1.PersistentVolumeClaim) {
	if claims == nil {
		return
	}
	for _, s := range p.Workload {
		if want, ok := s.Object.(*appsv1.StatefulSet); ok && s.Verb == apply.Put {
			p.claims(want, claims)
		}
	}
}

// claims compares the storage that a StatefulSet requests with the claims of its pods:
//
//	a volume claim | the template requests more | the template requests less
//	---------------|----------------------------|---------------------------------------
//	bound          | it is expanded             | it stays, and a condition explains how
//	               |                            | to get a smaller one
//	not bound      | it stays, with a condition: the API server does not resize it
//	being deleted  | ignored
//
// The template is written in any case, so new claims get the new size: to shrink volumes, users
// delete claims one by one. Only if a bound claim cannot grow does the template keep its size, see
// keepSizes.
//
// Claims of pods that were scaled down count too: they are reused when the pods come back.
func (p *Plan) claims(want *appsv1.StatefulSet, claims []*corev1.PersistentVolumeClaim) {
	for i := range want.Spec.VolumeClaimTemplates {
		t := &want.Spec.VolumeClaimTemplates[i]
		size, asked := storageOf(t)
		if !asked {
			continue
		}
		var larger, unbound []string
		for _, c := range claims {
			rest, ofTemplate := strings.CutPrefix(c.Name, t.Name+"-"+want.Name+"-")
			has, sized := storageOf(c)
			order := has.Cmp(size)
			switch {
			case !ofTemplate || !isNumber(rest) || !sized || order == 0 || c.DeletionTimestamp != nil:
			case c.Status.Phase != corev1.ClaimBound:
				unbound = append(unbound, c.Name+" ("+has.String()+")")
			case order > 0:
				larger = append(larger, c.Name+" ("+has.String()+")")
			default:
				p.growths = append(p.growths, Growth{StatefulSet: want.Name, Claim: c.Name, From: has, To: size})
			}
		}
		if len(larger) > 0 {
			p.larger = append(p.larger, fmt.Sprintf(
				"%s: PersistentVolumeClaims of StatefulSet %s are larger than %s and stay, because volumes cannot shrink: %s. To get a smaller volume, without its data, delete a PVC and then its pod",
				storageField, want.Name, size.String(), someOf(larger)))
		}
		if len(unbound) > 0 {
			p.unbound = append(p.unbound, fmt.Sprintf(
				"%s: PersistentVolumeClaims of StatefulSet %s are not bound and do not request %s: %s. The API server resizes bound PVCs only; delete a PVC and then its pod to get one of the new size",
				storageField, want.Name, size.String(), someOf(unbound)))
		}
	}
	slices.SortFunc(p.growths, func(a, b Growth) int { return cmp.Compare(a.Claim, b.Claim) })
}

const storageField = "spec.storage.volumeClaimTemplate.spec.resources.requests.storage"

// someOf lists the first names in order.
func someOf(names []string) string {
	const most = 5
	slices.Sort(names)
	return excerpt.List(names, most)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func storageOf(c *corev1.PersistentVolumeClaim) (resource.Quantity, bool) {
	q, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]
	return q, ok
}

func setStorage(c *corev1.PersistentVolumeClaim, size resource.Quantity) {
	c.Spec.Resources.Requests[corev1.ResourceStorage] = size
}

// liveTemplate returns the storage that a live StatefulSet's claim template requests.
func liveTemplate(live *appsv1.StatefulSet, name string) (resource.Quantity, bool) {
	for i := range live.Spec.VolumeClaimTemplates {
		if t := &live.Spec.VolumeClaimTemplates[i]; t.Name == name {
			return storageOf(t)
		}
	}
	return resource.Quantity{}, false
}

// grow expands PVCs before their StatefulSet is written: while the StatefulSet requests less, the
// next reconciliation retries. If a claim cannot grow, its StatefulSet keeps its current size, so
// its other changes can still be written: steps are the plan's steps with that size.
//
// Errors: PVCs that could not be expanded; the reconciliation may continue.
func (c *Controller) grow(ctx context.Context, log *slog.Logger, w v1.Workload, plan *Plan, live map[string]*appsv1.StatefulSet) (steps []apply.Step, err error) {
	var failed []error
	var stay []string
	for _, g := range plan.growths {
		if err := c.writer.GrowClaim(ctx, w.GetNamespace(), g.Claim, g.To); err != nil {
			failed = append(failed, err)
			stay = append(stay, g.StatefulSet)
			continue
		}
		log.Info("expanding PVC", "pvc", g.Claim, "from", g.From.String(), "to", g.To.String())
	}
	return keepSizes(plan.Workload, live, stay), errors.Join(failed...)
}

// notGrown is appended to the input hash of a StatefulSet that keeps its size. The hash still
// changes with all other inputs and with manual edits. It differs from the hash without the suffix,
// so the size is written once the claims have grown.
const notGrown = "-not-grown"

// keepSizes returns the steps with the named StatefulSets requesting no more storage than the live ones.
func keepSizes(steps []apply.Step, live map[string]*appsv1.StatefulSet, names []string) []apply.Step {
	if len(names) == 0 {
		return steps
	}
	out := slices.Clone(steps)
	for i, s := range out {
		want, ok := s.Object.(*appsv1.StatefulSet)
		if ok && slices.Contains(names, want.Name) && live[want.Name] != nil {
			out[i].Object = keepSize(want.DeepCopy(), live[want.Name])
		}
	}
	return out
}

func keepSize(want, live *appsv1.StatefulSet) *appsv1.StatefulSet {
	want.Annotations[wellknown.AnnotationInputHash] += notGrown
	for i := range want.Spec.VolumeClaimTemplates {
		t := &want.Spec.VolumeClaimTemplates[i]
		size, asked := storageOf(t)
		if has, ok := liveTemplate(live, t.Name); ok && asked && has.Cmp(size) < 0 {
			setStorage(t, has)
		}
	}
	return want
}
