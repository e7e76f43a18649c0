package commands

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
)

// Limits for shell completion: a slow cluster has no suggestions, and a large one only some.
const (
	completionTime  = 2 * time.Second
	completionLimit = 500
)

// completionFlag is the flag with which shells request completions of the words after it.
const completionFlag = "--completion-bash"

// completedWords returns the words to complete, of which the last may be incomplete.
func completedWords(args []string) ([]string, bool) {
	if len(args) == 0 || args[0] != completionFlag {
		return nil, false
	}
	return args[1:], true
}

// commandNames returns the commands that match an incomplete word, or nil if the word is not a
// command. The parser does not suggest commands if there is a default command.
func commandNames(app *kingpin.ApplicationModel, words []string) (out []string) {
	commands, word := app.Commands, ""
	for i, w := range words {
		if i == len(words)-1 {
			word = w
			break
		}
		at := slices.IndexFunc(commands, func(c *kingpin.CmdModel) bool { return c.Name == w })
		if at < 0 || len(commands[at].Commands) == 0 {
			return nil
		}
		commands = commands[at].Commands
	}
	for _, c := range commands {
		if !c.Hidden && strings.HasPrefix(c.Name, word) {
			out = append(out, c.Name)
		}
	}
	return out
}

// Kinds that status and explain accept.
var (
	workloadRows = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent, catalog.Alertmanager, catalog.ThanosRuler}
	configRows   = append(slices.Clone(scrapeRows), catalog.PrometheusRule, catalog.AlertmanagerConfig)
)

// withObjects declares the flags of a command whose argument "object" can be completed: first
// with kinds, then with names from the cluster of the kubeconfig, limited to the namespace of
// --namespace if given. words and namespace point to the words entered so far.
func (o *connection) withObjects(bind func(*kingpin.CmdClause), words *[]string, namespace *string, kinds []*catalog.Row) func(*kingpin.CmdClause) {
	suggest := sync.OnceValue(func() []string { // called by the parser for each word
		typed := slices.DeleteFunc(slices.Clone(*words), func(word string) bool { return word == "" })
		if len(typed) == 0 {
			return kindWords(kinds)
		}
		i := slices.Index(kinds, catalog.Word(typed[0]))
		if i < 0 {
			return kindWords(kinds)
		}
		return o.names(kinds[i], *namespace)
	})
	return func(cmd *kingpin.CmdClause) {
		bind(cmd)
		cmd.GetArg("object").HintAction(suggest)
	}
}

func kindWords(kinds []*catalog.Row) (out []string) {
	for _, row := range kinds {
		out = append(out, strings.ToLower(row.Kind))
	}
	return out
}

// names returns the names of the objects of a kind: NAMESPACE/NAME, or NAME in a namespace. It
// returns none if the cluster does not respond quickly.
func (o *connection) names(row *catalog.Row, namespace string) (out []string) {
	cfg, err := o.personConfig()
	if err != nil {
		return nil
	}
	cfg.Timeout = completionTime
	_, clients, err := kindClients(cfg, client.New)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	objects, err := apiserver.Reader{CRDs: clients}.List(ctx, readers.Query{GroupVersionResource: row.GroupVersionResource(), Namespace: namespace, Limit: completionLimit})
	if err != nil {
		return nil
	}
	for _, object := range objects {
		name := object.GetName()
		if namespace == "" {
			name = object.GetNamespace() + "/" + name
		}
		out = append(out, name)
	}
	return out
}
