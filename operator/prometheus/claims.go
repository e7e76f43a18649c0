package prometheus

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

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Growth is a claim that must become larger.
type Growth struct {
	StatefulSet string // whose pod uses it
	Claim       string
	From, To    resource.Quantity
}

// claims compares the storage that a StatefulSet asks for with what its pods
// have:
//
//	the template asks for more than a claim      the claim grows, pods go on running
//	the template asks for less than the live one the live one's size stays: claims cannot shrink
//
// live is nil when there is no StatefulSet. Claims of pods that were scaled away
// grow too: they are used again when the pods come back.
func (plan *Plan) claims(want, live *appsv1.StatefulSet, claims []*corev1.PersistentVolumeClaim) {
	for i := range want.Spec.VolumeClaimTemplates {
		t := &want.Spec.VolumeClaimTemplates[i]
		size, asked := storageOf(t)
		if !asked {
			continue
		}
		if has, ok := liveTemplate(live, t.Name); ok && has.Cmp(size) > 0 {
			plan.Refused = append(plan.Refused, fmt.Sprintf(
				"spec.storage.volumeClaimTemplate.spec.resources.requests.storage: %s is less than the %s that StatefulSet %s has, and volumes cannot shrink",
				size.String(), has.String(), want.Name))
			setStorage(t, has)
			size = has
		}
		for _, c := range claims {
			if rest, ok := strings.CutPrefix(c.Name, t.Name+"-"+want.Name+"-"); !ok || !isNumber(rest) {
				continue
			}
			if has, ok := storageOf(c); ok && has.Cmp(size) < 0 {
				plan.Growths = append(plan.Growths, Growth{StatefulSet: want.Name, Claim: c.Name, From: has, To: size})
			}
		}
	}
	slices.SortFunc(plan.Growths, func(a, b Growth) int { return cmp.Compare(a.Claim, b.Claim) })
}

func storageOf(c *corev1.PersistentVolumeClaim) (resource.Quantity, bool) {
	q, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]
	return q, ok
}

func setStorage(c *corev1.PersistentVolumeClaim, size resource.Quantity) {
	c.Spec.Resources.Requests[corev1.ResourceStorage] = size
}

// liveTemplate is the storage that a live StatefulSet's claim template asks for.
func liveTemplate(live *appsv1.StatefulSet, name string) (resource.Quantity, bool) {
	if live == nil {
		return resource.Quantity{}, false
	}
	for i := range live.Spec.VolumeClaimTemplates {
		if t := &live.Spec.VolumeClaimTemplates[i]; t.Name == name {
			return storageOf(t)
		}
	}
	return resource.Quantity{}, false
}

// grow lets claims grow before their StatefulSet is written: as long as the
// StatefulSet asks for less, the next pass tries again. Where a claim cannot
// grow, the StatefulSet keeps the size it asks for, so that everything else of it
// can be written all the same.
//
// Errors: claims that could not grow; the rest of the pass may go on.
func (c *Controller) grow(ctx context.Context, log *slog.Logger, o Owner, plan *Plan, live map[string]*appsv1.StatefulSet) error {
	var failed []error
	for _, g := range plan.Growths {
		if err := c.writer.GrowClaim(ctx, o.GetNamespace(), g.Claim, g.To); err != nil {
			failed = append(failed, err)
			plan.keepSize(live[g.StatefulSet])
			continue
		}
		log.Info("claim grows", "claim", g.Claim, "from", g.From.String(), "to", g.To.String())
	}
	return errors.Join(failed...)
}

// keepSize gives the wanted StatefulSet the storage that the live one asks for,
// and no hash: it is not what its inputs say, and must be written once its claims
// have grown.
func (plan *Plan) keepSize(live *appsv1.StatefulSet) {
	if live == nil {
		return
	}
	for _, s := range plan.Workload {
		want, ok := s.Object.(*appsv1.StatefulSet)
		if !ok || want.Name != live.Name {
			continue
		}
		want.Annotations[workload.AnnotationInputHash] = ""
		for i := range want.Spec.VolumeClaimTemplates {
			t := &want.Spec.VolumeClaimTemplates[i]
			if has, ok := liveTemplate(live, t.Name); ok {
				setStorage(t, has)
			}
		}
	}
}
