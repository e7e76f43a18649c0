package commands

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// spellings describes the ways to name an object.
const spellings = "KIND NAMESPACE/NAME, KIND/NAMESPACE/NAME, or KIND NAME with -n"

func bindNamespace(cmd *kingpin.CmdClause, namespace *string) {
	cmd.Flag("namespace", "Namespace of objects that are named without one.").Short('n').StringVar(namespace)
}

// bindContextNamespace is like bindNamespace, for a command with kubectl's default.
func bindContextNamespace(cmd *kingpin.CmdClause, namespace *string) {
	cmd.Flag("namespace", "Namespace of objects that are named without one. Default: that of the kubeconfig's context; with -f, none.").Short('n').StringVar(namespace)
}

// spelled parses the value of a flag that names an object of one of these kinds.
//
// Errors start with the flag.
func spelled(flag, value, namespace string, rows []*catalog.Row) (*catalog.Row, types.NamespacedName, error) {
	s, rest, err := catalog.Spell(strings.Fields(value), namespace)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("unexpected %q", rest[0])
	}
	if err != nil {
		return nil, s.NamespacedName, fmt.Errorf("--%s=%s: %w", flag, value, err)
	}
	row := catalog.Word(s.Kind)
	for _, r := range rows {
		if r == row {
			_, err := catalog.Key(s.NamespacedName.String(), "")
			if err != nil {
				err = fmt.Errorf("--%s=%s: want KIND/NAMESPACE/NAME, or KIND/NAME and --namespace", flag, value)
			}
			return row, s.NamespacedName, err
		}
	}
	return nil, s.NamespacedName, fmt.Errorf("--%s=%s: %q is not %s", flag, value, s.Kind, strings.ToLower(catalog.Or(rows)))
}
