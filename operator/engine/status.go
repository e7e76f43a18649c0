package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Reasons of the condition Available. See also daemonset.go.
const (
	reasonNoStatefulSet = "StatefulSetNotFound" // the shard's StatefulSet does not exist
	reasonNoPodReady    = "NoPodReady"          // no pod of the shard is ready
	reasonSomeNotReady  = "SomePodsNotReady"    // some pods of the shard are not ready
)

// Reasons of the condition Reconciled. Kinds have more.
const (
	reasonFailed          = "ReconciliationFailed" // the last reconciliation failed; the message is its error
	reasonNeverReconciled = "NotFound"             // not reconciled yet
	reasonNothingSelected = "NoSelectedResources"  // reconciled, but nothing is selected
	reasonFieldsLeftOut   = "FieldsNotSupported"   // the version does not support some fields; the message names them
	reasonStorage         = "StorageCannotShrink"  // claims are larger than requested; the message names them
	reasonClaimNotBound   = "ClaimNotBound"        // claims have another size than requested and cannot be resized yet
	reasonTerminating     = "NamespaceTerminating" // nothing more can be created
	reasonForbidden       = "PermissionMissing"    // a selected kind may not be read, at the start or any more; the message names the permissions
	reasonDeletion        = "WaitingForDeletion"   // an object that runs the pods is being deleted and cannot be written; the message names it
	reasonHeadless        = "ServiceNotHeadless"   // the governing Service has a cluster IP; the message names it
	reasonWriteConflict   = "WriteConflict"        // another client keeps reverting objects; the message names both

	// ReasonAnnotationIgnored means that an annotation has no effect; the message has the reason, as a warning does.
	ReasonAnnotationIgnored = "AnnotationIgnored"
	// ReasonDeprecated means that fields are in use that have a replacement; the message names them.
	ReasonDeprecated = "DeprecatedFieldsInUse"
	// ReasonConfigUnmanaged means that the user writes the configuration, not the operator.
	ReasonConfigUnmanaged = "ConfigurationUnmanaged"
	// ReasonVersionTooOld means that the pods do not start with this version; the message is also a warning.
	ReasonVersionTooOld = "VersionTooOld"
	// ReasonLeftOut means that there is no room for all selected objects; the message names namespaces.
	ReasonLeftOut = "ObjectsLeftOut"
)

// setPods is the observed state of one expected StatefulSet.
type setPods struct {
	Set
	ID          string              // its number, in statuses
	Key         string              // "namespace/name"
	Other       string              // the owner of the StatefulSet with that name, if it is another workload's
	StatefulSet *appsv1.StatefulSet // nil if it does not exist
	Pods        []*corev1.Pod       // pods that it owns, by ordinal
}

// Status is the content of a workload's own status.
type Status struct {
	v1.WorkloadStatus
	Sets     []v1.ShardStatus // of each StatefulSet, or of the DaemonSet
	Selector string           // labels of all pods
	// Bare is set if the CRD is from an older release and lacks the fields for autoscalers.
	Bare bool
}

// statusInputs are the inputs of the status.
type statusInputs struct {
	Workload v1.Workload
	Replicas int32 // of each StatefulSet
	Sets     []setPods
	Nodes    *Nodes // instead of Sets, for a workload on every node
	Applied  appliedInputs
	Selector map[string]string // labels of the pods of all StatefulSets
	Result   Result
	Known    bool // it was reconciled
	Now      metav1.Time
}

// statusOf returns the status to report. It is deterministic.
func statusOf(in statusInputs) Status {
	out := Status{Selector: labels.Set(in.Selector).String()}
	out.Paused = in.Workload.GetWorkloadFields().Paused
	var shards []readiness
	add := func(counts v1.ShardStatus, going bool, v readiness) {
		shards = append(shards, v)
		if going {
			return // its pods are neither of what is expected nor too many
		}
		out.Replicas += counts.Replicas
		out.UpdatedReplicas += counts.UpdatedReplicas
		out.AvailableReplicas += counts.AvailableReplicas
		out.UnavailableReplicas += counts.UnavailableReplicas
		out.Sets = append(out.Sets, counts)
	}
	for _, s := range in.Sets {
		counts := countPods(s)
		add(counts, s.StatefulSet != nil && s.StatefulSet.DeletionTimestamp != nil, readinessOf(s, counts.AvailableReplicas, in.Replicas))
	}
	if n := in.Nodes; n != nil {
		counts := n.count()
		add(counts, n.DaemonSet != nil && n.DaemonSet.DeletionTimestamp != nil, n.readiness(counts.AvailableReplicas))
	}
	out.Conditions = []v1.Condition{availableOf(shards), reconciledOf(in)}
	out.Conditions = append(out.Conditions, appliedOrBefore(in)...)
	for i := range out.Conditions {
		c := &out.Conditions[i]
		if c.ObservedGeneration == 0 {
			c.ObservedGeneration = in.observed()
		}
		c.LastTransitionTime = transitionTime(in.Workload.GetWorkloadStatus().Conditions, *c, in.Now)
	}
	return out
}

// observed returns the generation that the status is about: the last one that was reconciled.
func (in statusInputs) observed() int64 {
	if !in.Known {
		return in.Workload.GetGeneration()
	}
	return in.Result.Of.Generation
}

// transitionTime keeps the time of a condition whose status is unchanged.
func transitionTime(before []v1.Condition, c v1.Condition, now metav1.Time) metav1.Time {
	for _, b := range before {
		if b.Type == c.Type && b.Status == c.Status {
			return b.LastTransitionTime
		}
	}
	return now
}

func countPods(s setPods) v1.ShardStatus {
	out := v1.ShardStatus{ShardID: s.ID, Replicas: int32(len(s.Pods))}
	for _, p := range s.Pods {
		if PodReady(p) {
			out.AvailableReplicas++
		}
		if s.StatefulSet != nil && p.Labels[appsv1.ControllerRevisionHashLabelKey] == s.StatefulSet.Status.UpdateRevision {
			out.UpdatedReplicas++
		}
	}
	out.UnavailableReplicas = out.Replicas - out.AvailableReplicas
	return out
}

// PodReady reports whether a pod runs and is ready.
func PodReady(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// PodMessage returns why a pod is not ready: first its condition, then the waiting reasons of its
// containers. It is empty if none is reported.
func PodMessage(p *corev1.Pod) string {
	var parts []string
	if text := conditionMessage(p); text != "" {
		parts = append(parts, text)
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil || w.Reason == "" {
			continue
		}
		text := fmt.Sprintf("container %s: %s", c.Name, w.Reason)
		if w.Message != "" {
			text += ": " + excerpt.Of(w.Message, budget.EventBytes)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func conditionMessage(p *corev1.Pod) string {
	for _, want := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		for _, c := range p.Status.Conditions {
			if c.Type == want && c.Status == corev1.ConditionFalse {
				return c.Message
			}
		}
	}
	return ""
}

// readiness is the contribution of one StatefulSet to the condition Available.
type readiness struct {
	status v1.ConditionStatus
	reason string
	lines  []string
}

func readinessOf(s setPods, ready, expected int32) readiness {
	switch {
	case s.Other != "":
		return readiness{v1.ConditionFalse, reasonNoStatefulSet, []string{fmt.Sprintf("%sstatefulset %s belongs to %s", s.Title, s.Key, s.Other)}}
	case s.StatefulSet == nil:
		return readiness{v1.ConditionFalse, reasonNoStatefulSet, []string{fmt.Sprintf("%sstatefulset %s not found", s.Title, s.Key)}}
	case ready >= expected:
		return readiness{status: v1.ConditionTrue}
	}
	v := notReady(s.Pods, ready, s.Title)
	if s.StatefulSet.DeletionTimestamp != nil {
		v.lines = append(v.lines, fmt.Sprintf("%sstatefulset %s is being deleted, and is recreated once it is gone", s.Title, s.Key))
		return v
	}
	if missing := expected - int32(len(s.Pods)); missing > 0 && len(v.lines) == 0 {
		v.lines = append(v.lines, fmt.Sprintf("%s%d of %d pods do not exist; the Events of StatefulSet %s say why, such as a ResourceQuota, LimitRange or Pod Security level that refuses them", s.Title, missing, expected, s.Key))
	}
	return v
}

// notReady returns the readiness on a shard with too few ready pods. prefix starts each line.
func notReady(pods []*corev1.Pod, ready int32, prefix string) readiness {
	v := readiness{status: v1.ConditionDegraded, reason: reasonSomeNotReady}
	if ready == 0 {
		v = readiness{status: v1.ConditionFalse, reason: reasonNoPodReady}
	}
	for _, p := range pods {
		if msg := PodMessage(p); msg != "" {
			v.lines = append(v.lines, fmt.Sprintf("%spod %s: %s", prefix, p.Name, msg))
		}
	}
	return v
}

// availableOf merges the shards of the shards: the worst status wins, and all reasons are listed.
func availableOf(shards []readiness) v1.Condition {
	out := v1.Condition{Type: v1.Available, Status: v1.ConditionTrue}
	worst := []v1.ConditionStatus{v1.ConditionFalse, v1.ConditionDegraded, v1.ConditionUnknown, v1.ConditionTrue}
	var reasons, lines []string
	for _, v := range shards {
		if slices.Index(worst, v.status) < slices.Index(worst, out.Status) {
			out.Status = v.status
		}
		if v.reason != "" {
			reasons = append(reasons, v.reason)
		}
		lines = append(lines, v.lines...)
	}
	slices.Sort(reasons)
	out.Reason = strings.Join(slices.Compact(reasons), "And")
	out.Message = excerpt.Of(strings.Join(lines, "\n"), budget.ConditionBytes)
	return out
}

func reconciledOf(in statusInputs) v1.Condition {
	out := v1.Condition{Type: v1.Reconciled, Status: v1.ConditionTrue, Reason: in.Result.Reason, Message: in.Result.Message}
	switch {
	case !in.Known:
		out.Status, out.Reason = v1.ConditionUnknown, reasonNeverReconciled
		out.Message = "not reconciled yet"
	case in.Result.Err != nil:
		out.Status, out.Reason, out.Message = v1.ConditionFalse, reasonFailed, in.Result.Err.Error()
		if wait, ok := Waiting(in.Result.Err); ok && wait.Condition != "" {
			out.Reason = wait.Condition
		} else if of, ok := errors.AsType[reasonedError](in.Result.Err); ok {
			out.Reason = of.ConditionReason()
		}
	}
	out.Message = excerpt.Of(out.Message, budget.ConditionBytes)
	return out
}

// ownedPods returns the pods that a StatefulSet or DaemonSet owns, by ordinal, then by name.
func ownedPods(kind, name string, pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		for _, o := range p.OwnerReferences {
			if o.Kind == kind && o.Name == name {
				out = append(out, p)
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(ordinal(a), ordinal(b)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func ordinal(p *corev1.Pod) int {
	text := p.Labels[appsv1.PodIndexLabel]
	if text == "" {
		text = p.Name[strings.LastIndexByte(p.Name, '-')+1:]
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// unread returns the desired and the current status of a workload with undecodable fields. They
// differ only in the condition Reconciled, because nothing else can be computed.
func (k *Kind) unread(w v1.Workload, r Result, known bool) (want, have any) {
	changed := w.DeepCopyObject().(v1.Workload)
	status := changed.GetWorkloadStatus()
	in := statusInputs{Workload: w, Result: r, Known: known}
	cond := reconciledOf(in)
	cond.ObservedGeneration = in.observed()
	cond.LastTransitionTime = transitionTime(w.GetWorkloadStatus().Conditions, cond, metav1.Now().Rfc3339Copy())
	if i := slices.IndexFunc(status.Conditions, func(c v1.Condition) bool { return c.Type == cond.Type }); i >= 0 {
		status.Conditions[i] = cond
	} else {
		status.Conditions = append(status.Conditions, cond)
	}
	_, want = k.Status(changed, Status{})
	_, have = k.Status(w, Status{})
	return want, have
}
