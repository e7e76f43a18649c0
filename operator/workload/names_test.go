package workload

import "testing"

func TestDivided(t *testing.T) {
	kind := Kind{Prefix: "alertmanager", ConfigSecret: ConfigSecret{Suffix: "-generated"}}
	for name, want := range map[string]bool{
		"alertmanager-main-generated":       true,
		"alertmanager-main-rulefiles-0":     true,
		"alertmanager-main-rulefiles-12":    true,
		"alertmanager-main-tls-assets-3":    true,
		"alertmanager-main-config-part-16":  true,
		"alertmanager-main":                 false,
		"alertmanager-main-rulefiles":       false,
		"alertmanager-main-rulefiles-":      false,
		"alertmanager-main-rulefiles-01":    false,
		"alertmanager-main-rulefiles-1-2":   false,
		"alertmanager-main-2-rulefiles-0":   false, // of main-2
		"alertmanager-main-etcd-certs":      false, // of a user
		"alertmanager-main-web-config":      false,
		"prometheus-main-rulefiles-0":       false,
		"alertmanager-mainly-generated":     false,
		"alertmanager-main-cluster-tls-0":   false,
		"alertmanager-main-tls-assets-9x":   false,
		"alertmanager-main-config-part--10": false,
	} {
		if got := kind.Divided("main", name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
