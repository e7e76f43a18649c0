package prometheus

import (
	"iter"

	"github.com/firekeeper-dev/firekeeper/operator/configsecret"
	"github.com/firekeeper-dev/firekeeper/operator/promworkload"
)

// origin says whose the configuration is.
func (in *Inputs) origin() configsecret.Origin {
	return configsecret.Origin{
		Objects: "monitors",
		Divide:  "let several Prometheus objects select the monitors and rules (by labels or namespaces); spec.shards does not help, because every shard has the whole configuration",
		Each:    in.sources(),
	}
}

func (in *Inputs) sources() iter.Seq[configsecret.Source] {
	return func(yield func(configsecret.Source) bool) {
		for _, m := range in.Monitors {
			if m.Err != nil {
				continue
			}
			if !yield(configsecret.Source{Kind: m.Kind, Namespace: m.Object.GetNamespace(), Name: m.Object.GetName(), Bytes: m.Piece.Size()}) {
				return
			}
		}
	}
}

// withheld is the plan when the configuration is too large: nothing of its content,
// and the pods as they fit to the content that stays.
func withheld(owner *promworkload.Owner, in *Inputs, written configsecret.Output) (Plan, error) {
	plan := Plan{Plan: written.Withheld.Plan()}
	if written.LeavePods {
		return plan, nil
	}
	var ruleConfigMaps []string
	for _, m := range in.RuleConfigMaps {
		ruleConfigMaps = append(ruleConfigMaps, m.Name)
	}
	pod := promworkload.Inputs{RuleConfigMaps: ruleConfigMaps, TLSSecrets: in.tlsSecrets(owner), ConfigInParts: written.InParts}
	if err := plan.workloads(owner, in, pod); err != nil {
		return plan, err
	}
	return plan, nil
}

// tlsSecrets is how many Secrets of TLS assets there are now.
func (in *Inputs) tlsSecrets(owner *promworkload.Owner) int {
	n := 0
	for in.Secrets[owner.TLSAssetSecretName(n)] != nil {
		n++
	}
	return n
}
