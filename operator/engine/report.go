package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// report writes the status of a workload if it differs from the existing one.
func (c *Controller) report(ctx context.Context, key types.NamespacedName, r Result, known bool) error {
	w, ok := c.stores.workloads.get(key.Namespace, key.Name)
	if !ok || !c.manages(w) || w.GetDeletionTimestamp() != nil {
		return nil
	}
	w = withoutForeign(w)
	known = known && r.Of.UID == w.GetUID()
	if !known && len(w.GetWorkloadStatus().Conditions) > 0 {
		return nil // after a restart the last status remains until the first reconciliation
	}
	if v1.Undecodable(w) != nil {
		want, have := c.kind.unread(w, r, known)
		return c.outdated(c.writeStatus(ctx, w, want, have))
	}
	status, in := c.statusNow(w, r, known)
	if in.Nodes == nil && !w.GetWorkloadFields().Paused {
		c.repair(ctx, in.Sets, in.Replicas)
	}
	want, have := c.kind.Status(w, status)
	err := c.writeStatus(ctx, w, want, have)
	if lacksFields(err) {
		status.Bare = true
		want, have = c.kind.Status(w, status)
		err = c.writeStatus(ctx, w, want, have)
	}
	return c.outdated(err)
}

// errNoStatus means that the CRD of a workload has no subresource for statuses.
var errNoStatus = errors.New("it has no status subresource")

// outdated logs an error that means that the CRD is older than the operator, once until a status can be written again, and
// returns others. The periodic comparison of statuses ([Controller.wake]) tries again.
func (c *Controller) outdated(err error) error {
	old := lacksFields(err) || errors.Is(err, errNoStatus)
	if err != nil && !old {
		return err
	}
	c.mu.Lock()
	known := c.oldCRD
	c.oldCRD = old
	c.mu.Unlock()
	if old {
		c.metrics.statusErrors.Inc()
	}
	if old && !known {
		c.log.Warn("statuses are not written, because the CRD is not that of this version: apply the CRDs of deploy/crds",
			"crd", c.kind.Resource+"."+c.kind.Group, "err", err)
	}
	return nil
}

// ownConditions are the types of the conditions that the operator writes.
var ownConditions = []v1.ConditionType{v1.Available, v1.Reconciled, v1.ConfigApplied, v1.Balanced, v1.ScaleDownBlocked}

// withoutForeign returns the workload without the conditions of other field managers: a copy if there are any. A write of
// the status leaves them, so that they must neither be compared nor be written.
func withoutForeign(w v1.Workload) v1.Workload {
	foreign := func(c v1.Condition) bool { return !slices.Contains(ownConditions, c.Type) }
	if !slices.ContainsFunc(w.GetWorkloadStatus().Conditions, foreign) {
		return w
	}
	out := w.DeepCopyObject().(v1.Workload)
	status := out.GetWorkloadStatus()
	status.Conditions = slices.DeleteFunc(status.Conditions, foreign)
	return out
}

// writeStatus writes the status of a workload if it differs from the existing one.
//
// Errors: those of the API server; errNoStatus.
func (c *Controller) writeStatus(ctx context.Context, w v1.Workload, want, have any) error {
	if equality.Semantic.DeepEqual(want, have) {
		return nil
	}
	err := c.crds.Status(ctx, catalog.KeyOf(w), want)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if there, failed := c.crds.Exists(ctx, catalog.KeyOf(w)); failed == nil && there && c.remains(w) {
		return errNoStatus
	}
	return nil // it was deleted
}

// statusNow returns the desired status of a workload and its inputs.
func (c *Controller) statusNow(w v1.Workload, r Result, known bool) (Status, statusInputs) {
	shape := c.kind.Shape(w)
	in := statusInputs{
		Workload: w, Replicas: shape.Replicas, Selector: shape.Selector, Result: r, Known: known, Now: metav1.Now().Rfc3339Copy(),
	}
	if shape.DaemonSet != "" {
		in.Nodes = c.nodes(w, shape.DaemonSet)
	} else {
		in.Sets = c.sets(w, shape.Sets)
	}
	in.Applied = c.applied(w, shape, in)
	return statusOf(in), in
}

// Workload returns an object of the kind that this controller manages and its current desired
// status, in the kind's own type. Neither may be modified. Before the first reconciliation, which
// includes a standby, the status is the object's own. ok is false for an object that does not exist
// or that this operator does not manage.
func (c *Controller) Workload(key types.NamespacedName) (w v1.Workload, status any, ok bool) {
	w, ok = c.stores.workloads.get(key.Namespace, key.Name)
	if !ok || !c.manages(w) {
		return nil, nil, false
	}
	r, known := c.loop.Result(key)
	known = known && r.Of.UID == w.GetUID()
	var want, have any
	if v1.Undecodable(w) != nil {
		want, have = c.kind.unread(w, r, known)
	} else {
		now, _ := c.statusNow(w, r, known)
		want, have = c.kind.Status(w, now)
	}
	if !known || w.GetDeletionTimestamp() != nil {
		want = have
	}
	return w, want, true
}

// lacksFields reports whether the CRD lacks a field of the written status. The API server responds
// with 500 to a server-side apply of such a field, so only the message identifies it; temporary
// failures are retried unchanged.
func lacksFields(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) ||
		err != nil && strings.Contains(err.Error(), "field not declared in schema")
}

// sets returns the observed state of the StatefulSets that should exist.
func (c *Controller) sets(w v1.Workload, wanted []Set) []setPods {
	pods := c.podsOf(catalog.KeyOf(w))
	owner := &metav1.OwnerReference{APIVersion: c.kind.GroupVersion().String(), Kind: c.kind.Kind, Name: w.GetName(), UID: w.GetUID()}
	var out []setPods
	for i, set := range wanted {
		s := setPods{Set: set, ID: strconv.Itoa(i), Key: w.GetNamespace() + "/" + set.Name}
		if sts, ok := c.writer.StatefulSets().Get(w.GetNamespace(), set.Name); ok {
			if s.Other = apply.OtherOwner(sts, owner); s.Other == "" {
				s.StatefulSet, s.Pods = sts, ownedPods("StatefulSet", set.Name, pods)
			}
		}
		out = append(out, s)
	}
	return out
}

// nodes returns the observed state of a workload on every node. It is empty while the feature gate is off.
func (c *Controller) nodes(w v1.Workload, name string) *Nodes {
	out := &Nodes{Key: w.GetNamespace() + "/" + name}
	if c.stores.daemonSets == nil {
		return out
	}
	if ds, ok := c.writer.DaemonSets().Get(w.GetNamespace(), name); ok {
		out.DaemonSet, out.Pods = ds, ownedPods("DaemonSet", name, c.podsOf(catalog.KeyOf(w)))
	}
	return out
}

// asWanted reports whether everything is available according to the status.
func (c *Controller) asWanted(w v1.Workload) bool {
	shape, status := c.kind.Shape(w), w.GetWorkloadStatus()
	want := shape.Replicas * int32(len(shape.Sets))
	if shape.DaemonSet != "" {
		want = status.Replicas // the number of nodes
	}
	if status.UpdatedReplicas != want || status.AvailableReplicas != want {
		return false
	}
	for _, cond := range status.Conditions {
		if cond.Type == v1.Available {
			return cond.Status == v1.ConditionTrue
		}
	}
	return false
}
