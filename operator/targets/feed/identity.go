package feed

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// Audience is the audience of the tokens of pods.
const Audience = wellknown.DiscoveryAudience

// Owner is the workload that a StatefulSet belongs to, according to the names that the operator creates.
type Owner struct {
	Shard Shard
	// ServiceAccount of the pods; empty for "default".
	ServiceAccount string
	// Refused (optional) is the reason why its pods get no list.
	Refused string
}

// SetOwners sets the StatefulSets of all workloads.
func (f *Feed) SetOwners(owners map[types.NamespacedName]Owner) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owners = owners
}

// HasPods reports whether a namespace has pods of workloads. Before those are known, all may have.
func (f *Feed) HasPods(namespace string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owners == nil {
		return true
	}
	for set := range f.owners {
		if set.Namespace == namespace {
			return true
		}
	}
	return false
}

// owner returns the owner of a StatefulSet; ok is false if the operator creates none of this name.
//
// Errors: the workloads are not known yet.
func (f *Feed) owner(set types.NamespacedName) (out Owner, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owners == nil {
		return out, false, later("the workloads are not known yet", 5*time.Second)
	}
	out, ok = f.ownerOf(set)
	return out, ok, nil
}

// ownerOf returns the owner of a StatefulSet. f.mu must be held.
func (f *Feed) ownerOf(set types.NamespacedName) (out Owner, ok bool) {
	out, kept, ok := OwnerOf(f.owners, set)
	if !kept {
		return out, ok
	}
	if a := f.requests[out.Shard.Workload]; a == nil || out.Shard.Number >= a.Shards { // otherwise its targets are on their way to others
		out.Shard.Number = Retired
	}
	return out, ok
}

// OwnerOf returns the owner of a StatefulSet, with the number of its shard. kept is true if the StatefulSet is
// not one of the current ones of the workload but may have been kept when it was scaled down.
func OwnerOf(owners map[types.NamespacedName]Owner, set types.NamespacedName) (out Owner, kept, ok bool) {
	if out, ok = owners[set]; ok {
		return out, false, true
	}
	first, number, kept := keptShard(set.Name)
	if !kept {
		return out, false, false
	}
	out, ok = owners[types.NamespacedName{Namespace: set.Namespace, Name: first}]
	out.Shard.Number = number
	return out, true, ok
}

// keptShard returns the name of the first StatefulSet of a workload, and the number of the shard that another one of
// this name is for.
func keptShard(set string) (first string, number int, ok bool) {
	at := strings.LastIndex(set, "-shard-")
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(set[at+len("-shard-"):], 10, 31)
	return set[:at], int(n), err == nil && n > 0
}

// Pods reads pods.
type Pods interface {
	// Pod reads a pod.
	//
	// Errors: those of the API server.
	Pod(ctx context.Context, key types.NamespacedName) (*corev1.Pod, error)
}

// refusal is an error with a status of HTTP.
type refusal struct {
	code    int
	message string
	after   time.Duration // 0: no Retry-After
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

// later is the error of a request that may succeed after a while.
func later(why string, after time.Duration) error {
	return &refusal{http.StatusServiceUnavailable, why, after}
}

func forbidden(format string, args ...any) error {
	return &refusal{code: http.StatusForbidden, message: fmt.Sprintf(format, args...)}
}

// caller is a pod that follows a list.
type caller struct {
	pod   types.NamespacedName
	uid   types.UID
	shard Shard
	set   types.NamespacedName // of the shard
}

// Identity identifies the senders of tokens.
type Identity struct {
	// Tokens authenticates tokens. It gets the audience with the context.
	Tokens authenticator.Token
	Pods   Pods
}

// caller returns the pod to which a token is bound and its shard.
//
// Errors: *refusal.
func (i Identity) caller(ctx context.Context, f *Feed, token string) (out caller, err error) {
	invalid := &refusal{code: http.StatusUnauthorized, message: "no valid token with audience " + Audience + " that is bound to a pod"}
	answer, ok, err := i.Tokens.AuthenticateToken(authenticator.WithAudiences(ctx, authenticator.Audiences{Audience}), token)
	switch {
	case client.Unanswered(err):
		return out, later("the API server did not review the token", 5*time.Second)
	case err != nil || !ok || !has(answer.Audiences, Audience):
		return out, invalid
	}
	namespace, account, err := serviceaccount.SplitUsername(answer.User.GetName())
	name, uid := extra(answer.User, serviceaccount.PodNameKey), extra(answer.User, serviceaccount.PodUIDKey)
	if err != nil || name == "" || uid == "" {
		return out, invalid
	}
	out.pod, out.uid = types.NamespacedName{Namespace: namespace, Name: name}, types.UID(uid)
	pod, err := i.Pods.Pod(ctx, out.pod)
	switch {
	case apierrors.IsNotFound(err):
		return out, forbidden("pod %s does not exist", out.pod)
	case err != nil:
		return out, later(fmt.Sprintf("pod %s cannot be read: %s", out.pod, apierrors.ReasonForError(err)), 5*time.Second)
	}
	if out.shard, err = f.shardOf(pod, out.uid, account); err == nil {
		out.set = types.NamespacedName{Namespace: pod.Namespace, Name: metav1.GetControllerOf(pod).Name}
	}
	return out, err
}

// shardOf returns the shard of a pod. It is determined by the names of StatefulSets that the operator creates, not by
// labels. A user who may create pods that name such a StatefulSet in the namespace of a workload, with its
// ServiceAccount, has the permissions that limit the list. Pods of other namespaces never get it.
//
// Errors: *refusal.
func (f *Feed) shardOf(pod *corev1.Pod, uid types.UID, account string) (Shard, error) {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	switch {
	case pod.UID != uid:
		return Shard{}, forbidden("pod %s was replaced by another pod of that name", name)
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return Shard{}, forbidden("pod %s has ended", name)
	}
	of := metav1.GetControllerOf(pod)
	if of == nil || of.Kind != "StatefulSet" || !strings.HasPrefix(of.APIVersion, "apps/") {
		return Shard{}, forbidden("pod %s does not belong to a StatefulSet", name)
	}
	set := types.NamespacedName{Namespace: pod.Namespace, Name: of.Name}
	owner, ok, err := f.owner(set)
	want := owner.ServiceAccount
	if want == "" {
		want = "default"
	}
	switch {
	case err != nil:
		return Shard{}, err
	case !ok:
		return Shard{}, forbidden("pod %s belongs to StatefulSet %s, which is none of a Prometheus or PrometheusAgent", name, set)
	case owner.Refused != "":
		return Shard{}, forbidden("pod %s belongs to %s, which gets no targets here: %s", name, owner.Shard.Workload, owner.Refused)
	case account != want:
		return Shard{}, forbidden("pod %s runs as ServiceAccount %s, and %s as %s", name, account, owner.Shard.Workload, want)
	}
	return owner.Shard, nil
}

func has(all authenticator.Audiences, one string) bool {
	return len(all.Intersect(authenticator.Audiences{one})) > 0
}

// extra returns an attribute of a user, empty unless it has one value.
func extra(u user.Info, key string) string {
	if values := u.GetExtra()[key]; len(values) == 1 {
		return values[0]
	}
	return ""
}
