package prometheus

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// ownerState is what is remembered of one owner between passes. Only one pass
// of an owner runs at a time; fields that events read are guarded by
// Controller.mu.
type ownerState struct {
	document document.Assembler
	frame    frameCache
	checks   checkCache
	reported map[string]string // rejected object → reason already told

	references map[assets.Ref]bool // guarded
	hash       string              // guarded: stands for content
	content    delivery.Content    // guarded: what the pods should have
	reloaders  delivery.Pod        // guarded: how their reloaders are asked, without address
}

// frameCache keeps the owner's part of the document while nothing it depends on changed.
type frameCache struct {
	key   string
	frame promconfig.Frame
}

// checkCache remembers when the objects that p names were last looked at: they
// are not watched, and an idle pass makes no call.
type checkCache struct {
	generation int64
	at         time.Time
	err        error
}

// checkPeriod is how long a check of an unwatched object holds.
const checkPeriod = 5 * time.Minute

func (c *Controller) state(key types.NamespacedName) *ownerState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.owners[key]
	if s == nil {
		s = &ownerState{reported: map[string]string{}}
		c.owners[key] = s
	}
	return s
}

// forget drops everything that is remembered of an owner that is gone.
func (c *Controller) forget(key types.NamespacedName) {
	c.index.Remove(key)
	c.managed.Remove(key)
	c.compilers.Monitors.Release(key)
	c.compilers.Rules.Release(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owners, key)
}

func (c *Controller) forgetFragment(kind string, key types.NamespacedName) {
	if kind == v1.PrometheusRuleKind {
		c.compilers.Rules.Forget(kind, key.Namespace, key.Name)
		return
	}
	c.compilers.Monitors.Forget(kind, key.Namespace, key.Name)
}

// referencing returns the owners whose last pass asked for an object.
func (c *Controller) referencing(ref assets.Ref) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for key, s := range c.owners {
		if s.references[ref] {
			out = append(out, key)
		}
	}
	return out
}

// reconcile is one pass over an owner.
func (c *Controller) reconcile(ctx context.Context, key types.NamespacedName) (controller.Outcome, error) {
	cached, ok := c.stores.owners.Get(key.Namespace, key.Name)
	if !ok || !c.mine(cached) || cached.DeletionTimestamp != nil {
		c.forget(key) // owner references clean up
		return controller.Outcome{}, nil
	}
	log := c.log.With("key", key.String())
	if cached.Spec.Paused {
		log.Info("owner is paused, nothing is done")
		return controller.Outcome{}, nil
	}
	p := cached.DeepCopy()
	p.SetGroupVersionKind(v1.GroupVersionKind(v1.PrometheusKind))
	state := c.state(key)
	if err := c.check(ctx, p, &state.checks); err != nil {
		return controller.Outcome{}, err
	}
	g := gatherer{
		cluster: c.cluster(ctx), capabilities: c.opts.Capabilities, compilers: c.compilers,
		unmanaged: c.opts.unmanaged,
		frame: func(p *v1.Prometheus, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error) {
			return c.frame(ctx, &state.frame, p, s, ruleConfigMaps)
		},
	}
	in, err := g.Gather(p, time.Now())
	c.remember(state, in, err)
	if err != nil {
		return controller.Outcome{}, err
	}
	c.managed.Set(key, in.Counts)
	c.tell(log, p, state, in)
	plan, err := Desired(p, in, c.opts.Workload, &state.document)
	if err != nil {
		return controller.Outcome{}, err
	}
	if err := c.write(ctx, log, key, state, plan); err != nil {
		return controller.Outcome{}, err
	}
	return outcome(p, in, plan, c.opts.unmanaged(p)), nil
}

// write brings the cluster to the plan: the configuration first, then the pods
// are told, then what runs them.
func (c *Controller) write(ctx context.Context, log *slog.Logger, key types.NamespacedName, state *ownerState, plan Plan) error {
	for _, w := range plan.Warnings {
		log.Warn("remark about the owner", "remark", w)
	}
	content, err := c.writer.Do(ctx, plan.Content)
	logChanges(log, content)
	if err != nil {
		return err
	}
	if c.deliveredHash(key) != plan.Hash {
		content := plan.content()
		c.mu.Lock()
		state.hash, state.content, state.reloaders = plan.Hash, content, plan.Reloaders
		c.mu.Unlock()
	}
	for _, pod := range c.stores.runningPods.List(key.Namespace, labels.SelectorFromSet(labels.Set{ownerNameLabel: key.Name})) {
		if !delivery.Carries(pod.Annotations[delivery.Annotation], plan.Hash) {
			c.deliver(key, pod)
		}
	}
	done, err := c.writer.Do(ctx, plan.Workload)
	logChanges(log, done)
	return err
}

const ownerNameLabel = workload.LabelOwnerName

func logChanges(log *slog.Logger, done []apply.Done) {
	for _, d := range done {
		if d.Change != apply.Unchanged {
			log.Info("wrote object", "kind", kindName(d.Object), "name", d.Object.GetName(), "change", string(d.Change))
		}
	}
}

func kindName(o apply.Object) string {
	name := fmt.Sprintf("%T", o)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// deliver tells a pod what it should run. Pods that are going are left alone.
func (c *Controller) deliver(key types.NamespacedName, pod *corev1.Pod) {
	hash := c.deliveredHash(key)
	if !c.opts.InstantDelivery || hash == "" || pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" {
		return
	}
	c.nudger.Deliver(keyOf(pod), hash)
}

func (c *Controller) deliveredHash(key types.NamespacedName) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.owners[key]; s != nil {
		return s.hash
	}
	return ""
}

// askPod asks a pod whether it has what its owner's last pass wrote.
func (c *Controller) askPod(ctx context.Context, key types.NamespacedName, hash string) delivery.Answer {
	pod, ok := c.stores.runningPods.Get(key.Namespace, key.Name)
	if !ok || pod.Status.PodIP == "" {
		return delivery.Unknown
	}
	c.mu.Lock()
	state := c.owners[types.NamespacedName{Namespace: key.Namespace, Name: pod.Labels[ownerNameLabel]}]
	var want delivery.Content
	var ask delivery.Pod
	current := state != nil && state.hash == hash
	if current {
		want, ask = state.content, state.reloaders
	}
	c.mu.Unlock()
	if !current || len(ask.Ports) == 0 {
		return delivery.Unknown
	}
	ask.IP = pod.Status.PodIP
	return delivery.Ask(ctx, ask, want)
}

// remember keeps which Secrets and ConfigMaps the pass asked for. After a failed
// pass the earlier ones are kept as well.
func (c *Controller) remember(state *ownerState, in Inputs, failed error) {
	refs := make(map[assets.Ref]bool, len(in.References))
	for _, r := range in.References {
		refs[r] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed != nil {
		for r := range state.references {
			refs[r] = true
		}
	}
	state.references = refs
}

// frame compiles the owner's part of the document unless the kept one stands.
func (c *Controller) frame(ctx context.Context, kept *frameCache, p *v1.Prometheus, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error) {
	key := fmt.Sprintf("%s/%d/%s/%s", p.UID, p.Generation, s.Key(), strings.Join(ruleConfigMaps, ","))
	if kept.key == key && c.assets.Current(kept.frame.Deps) {
		return kept.frame, nil
	}
	f, err := promconfig.CompileServer(p, s, ruleConfigMaps, c.assets.Reader(ctx))
	*kept = frameCache{}
	if err == nil {
		*kept = frameCache{key: key, frame: f}
	}
	return f, err
}

// unmanaged reports whether the configuration of p is left to the user.
func (o Options) unmanaged(p *v1.Prometheus) bool {
	return promconfig.Unmanaged(p, o.DisableUnmanaged)
}

// check looks at the objects that p names and that are not watched.
func (c *Controller) check(ctx context.Context, p *v1.Prometheus, last *checkCache) error {
	if last.generation == p.Generation && last.err == nil && time.Since(last.at) < checkPeriod {
		return nil
	}
	err := c.checkStorageClass(ctx, p)
	if err == nil {
		err = c.checkService(ctx, p)
	}
	*last = checkCache{generation: p.Generation, at: time.Now(), err: err}
	return err
}

func (c *Controller) checkStorageClass(ctx context.Context, p *v1.Prometheus) error {
	if !c.opts.StorageClasses || p.Spec.Storage == nil {
		return nil
	}
	name := valueOr(p.Spec.Storage.VolumeClaimTemplate.Spec.StorageClassName, "")
	if name == "" {
		return nil
	}
	_, err := c.kube.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("spec.storage.volumeClaimTemplate.spec.storageClassName: storage class %q does not exist", name)
	case err != nil:
		return fmt.Errorf("read storage class %q: %w", name, err)
	}
	return nil
}

func (c *Controller) checkService(ctx context.Context, p *v1.Prometheus) error {
	owner := workload.ForServer(p, c.opts.Workload)
	if !owner.CustomService() {
		return nil
	}
	svc, err := c.kube.CoreV1().Services(p.Namespace).Get(ctx, owner.ServiceName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("spec.serviceName: %w", err)
	}
	return owner.CheckService(svc)
}

// tell reports objects that are rejected, once for each reason: in the log and
// as an event on the object.
func (c *Controller) tell(log *slog.Logger, p *v1.Prometheus, state *ownerState, in Inputs) {
	rejected := map[string]string{}
	report := func(kind, action string, obj controller.Object, err error) {
		if err == nil {
			return
		}
		id := kind + " " + obj.GetNamespace() + "/" + obj.GetName()
		rejected[id] = err.Error()
		if state.reported[id] == err.Error() {
			return
		}
		log.Warn("object is rejected", "kind", kind, "namespace", obj.GetNamespace(), "name", obj.GetName(), "err", err)
		if c.recorder != nil {
			regarding := obj.DeepCopyObject()
			regarding.GetObjectKind().SetGroupVersionKind(v1.GroupVersionKind(kind))
			c.recorder.Eventf(regarding, p, corev1.EventTypeWarning, "InvalidConfiguration", action, "%q was rejected by Prometheus %s/%s: %s",
				obj.GetNamespace()+"/"+obj.GetName(), p.Namespace, p.Name, shorten(err.Error(), maxReasonBytes))
		}
	}
	for _, m := range in.Monitors {
		report(m.Kind, "SelectingConfigurationResources", m.Object, m.Err)
	}
	for _, r := range in.Rules {
		report(v1.PrometheusRuleKind, "SelectingPrometheusRuleResources", r.Object, r.Err)
	}
	state.reported = rejected
}

// maxReasonBytes bounds the reason in an event: the API server refuses notes of
// more than 1 kB, and names take up to 600 bytes.
const maxReasonBytes = 400

// shorten cuts a text between characters and says so.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len(" …")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + " …"
}

// outcome is what a successful pass reports.
func outcome(p *v1.Prometheus, in Inputs, plan Plan, unmanaged bool) controller.Outcome {
	out := controller.Outcome{Dropped: plan.Dropped}
	total := 0
	for _, n := range in.Counts {
		total += n.Selected
	}
	switch deprecated := deprecatedFields(p); {
	case total == 0:
		out.Reason = reasonNothingSelected
		out.Message = "no ServiceMonitor, PodMonitor, Probe, ScrapeConfig or PrometheusRule is selected"
	case len(deprecated) > 0:
		out.Reason, out.Message = reasonDeprecated, strings.Join(deprecated, "; ")
	case unmanaged:
		out.Reason = reasonConfigUnmanaged
		out.Message = "spec.serviceMonitorSelector, spec.podMonitorSelector, spec.probeSelector and spec.scrapeConfigSelector are all unset, " +
			"so the configuration in the Secret is left to you; set one of them, or spec.additionalScrapeConfigs with an empty selector, to have it generated"
	case len(plan.Dropped) > 0:
		out.Reason, out.Message = reasonFieldsLeftOut, leftOut(plan.Dropped)
	}
	return out
}

// maxListed bounds how many left out fields a condition names.
const maxListed = 20

func leftOut(dropped []string) string {
	rest := ""
	if n := len(dropped) - maxListed; n > 0 {
		dropped, rest = dropped[:maxListed], fmt.Sprintf("; and %d more", n)
	}
	return "left out, because this version does not know it: " + strings.Join(slices.Clone(dropped), "; ") + rest
}

// deprecatedFields names fields in use that have a replacement.
func deprecatedFields(p *v1.Prometheus) []string {
	var out []string
	add := func(old, replacement, value string) {
		if value != "" {
			out = append(out, fmt.Sprintf("%s is deprecated, use %s", old, replacement))
		}
	}
	add("spec.baseImage", "spec.image", p.Spec.BaseImage)
	add("spec.tag", "spec.image", p.Spec.Tag)
	add("spec.sha", "spec.image", p.Spec.SHA)
	if t := p.Spec.Thanos; t != nil {
		add("spec.thanos.baseImage", "spec.thanos.image", t.BaseImage)
		add("spec.thanos.tag", "spec.thanos.image", t.Tag)
		add("spec.thanos.sha", "spec.thanos.image", t.SHA)
	}
	return out
}
