// Command operator runs Prometheus on Kubernetes: it reconciles the objects of
// monitoring.coreos.com into StatefulSets, Secrets and ConfigMaps.
package main

import "github.com/firekeeper-dev/firekeeper/cmd/commands"

func main() { commands.Main(commands.Operator) }
