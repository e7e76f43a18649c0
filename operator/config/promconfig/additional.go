package promconfig

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ownList is a field of a workload that refers to a user-supplied YAML list.
type ownList struct {
	field, about string
	items        itemKind
}

var (
	ownScrapeConfigs = ownList{"additionalScrapeConfigs", "scrape configs", jobItems}
	ownAlertRelabels = ownList{"additionalAlertRelabelConfigs", "alert relabel configs", relabelItems}
	ownAlertmanagers = ownList{"additionalAlertManagerConfigs", "alertmanager configs", alertmanagerItems}
)

// failed wraps an error that makes the entire list unusable.
func (l ownList) failed(err error) error {
	return faults.At(l.field, faults.Reword(err, func(f *faults.Finding) {
		f.Reason = "loading additional " + l.about + " failed: " + f.Reason
	}))
}

// additional reads a YAML list of maps from a Secret key and returns its items and text. It
// returns nothing if the selector is nil, or optional and not found.
func (r *resolver) additional(l ownList, sel *corev1.SecretKeySelector) ([]gate.Node, string, error) {
	if sel == nil {
		return nil, "", nil
	}
	text, ok, err := r.OptionalSecretKey(*sel)
	if err != nil {
		return nil, "", l.failed(err)
	}
	if !ok {
		return nil, "", nil
	}
	var nodes []gate.Node
	if err = new(manifest.Aliases).Check([]byte(text)); err == nil {
		nodes, err = gate.ParseList([]byte(text))
	}
	if at, is := errors.AsType[*manifest.AliasError](err); is {
		return nil, "", l.failed(fmt.Errorf("key %q of Secret %q: %w", sel.Key, sel.Name, at))
	}
	if err != nil { // the library's message contains the content
		return nil, "", l.failed(l.items.notList(text, r.contentOf(sel)))
	}
	if err := chargeSteps(nodes); err != nil {
		return nil, "", l.failed(fmt.Errorf("key %q of Secret %q: %w", sel.Key, sel.Name, err))
	}
	return nodes, text, nil
}

// chargeSteps bounds the regular expressions of the relabel steps in a list before Prometheus code
// compiles them.
//
// Errors: those for which [regexcost.IsTooMuch] is true.
func chargeSteps(nodes []gate.Node) (err error) {
	budget := new(regexcost.Budget)
	for _, node := range nodes {
		eachExpression(node, stepsKey, func(text string) bool {
			err = budget.Charge("^(?s:" + text + ")$")
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAdditional reports the items of a list that the server would reject.
func (r *resolver) checkAdditional(l ownList, sel *corev1.SecretKeySelector, nodes []gate.Node, text string, t gate.Target) error {
	if len(nodes) == 0 {
		return nil
	}
	return faults.At(l.field, l.items.checkItems(text, nodes, r.contentOf(sel), t))
}

// contentOf returns an error about the value of a key, without line and cause.
func (r *resolver) contentOf(sel *corev1.SecretKeySelector) assets.ContentError {
	return assets.ContentError{Ref: assets.Ref{Kind: assets.Secret, Namespace: r.Namespace(), Name: sel.Name}, Key: sel.Key}
}

// additionalItems reads and checks a list.
func (r *resolver) additionalItems(l ownList, sel *corev1.SecretKeySelector, t gate.Target) ([]gate.Node, error) {
	nodes, text, err := r.additional(l, sel)
	if err != nil {
		return nil, err
	}
	return nodes, r.checkAdditional(l, sel, nodes, text, t)
}

var errRelabelList = errors.New("relabel_configs is not a list of maps")

// shardJobs adds the sharding steps to additional scrape jobs. Jobs with a hashmod step
// already shard themselves. relabel_configs becomes the last key.
func shardJobs(jobs []gate.Node, sharding []Step, t gate.Target) ([]gate.Node, error) {
	text, _, err := gate.AppendItems(nil, sharding, t, "")
	if err != nil {
		return nil, err
	}
	steps, err := gate.ParseList(text)
	if err != nil {
		return nil, fmt.Errorf("sharding relabel steps: %w", err)
	}
	out := make([]gate.Node, 0, len(jobs))
	for i, job := range jobs {
		sharded, err := shardJob(job, steps)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out = append(out, sharded)
	}
	return out, nil
}

// relabelConfigs is the key of a job's relabel steps.
const relabelConfigs = "relabel_configs"

func shardJob(job gate.Node, sharding []gate.Node) (gate.Node, error) {
	var (
		out     gate.Node
		relabel = []any{}
		hashed  bool
	)
	for _, item := range job {
		if item.Key != relabelConfigs {
			out = append(out, item)
			continue
		}
		list, ok := item.Value.([]any)
		if !ok {
			return nil, errRelabelList
		}
		for _, step := range list {
			node, ok := step.(gate.Node)
			if !ok {
				return nil, errRelabelList
			}
			hashed = hashed || isHashmod(node)
		}
		relabel = append(relabel, list...)
	}
	if !hashed {
		for _, step := range sharding {
			relabel = append(relabel, step)
		}
	}
	return append(out, gate.Item{Key: relabelConfigs, Value: relabel}), nil
}

func isHashmod(step gate.Node) bool {
	for _, item := range step {
		if item.Key == "action" && item.Value == "hashmod" {
			return true
		}
	}
	return false
}

// additionalOrigins returns the origins of the steps of additional jobs: the user's steps
// followed by those added for sharding.
func additionalOrigins(read, sharded []gate.Node) [][]Origin {
	out := make([][]Origin, len(sharded))
	for i := range sharded {
		own, all := countSteps(read[i]), countSteps(sharded[i])
		for j := range all {
			o := Origin{ShardingOrigin}
			if j < own {
				o.Path = faults.Index(faults.Index(additionalOrigin, i)+"."+relabelConfigs, j)
			}
			out[i] = append(out[i], o)
		}
	}
	return out
}

func countSteps(job gate.Node) (n int) {
	for _, item := range job {
		if list, ok := item.Value.([]any); ok && item.Key == relabelConfigs {
			n += len(list)
		}
	}
	return n
}
