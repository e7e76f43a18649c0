// Command kubectl-firekeeper is a plugin of kubectl: it has the commands of the operator
// that are for people, and not the operator.
package main

import "github.com/firekeeper-dev/firekeeper/cmd/commands"

func main() { commands.Main(commands.Plugin) }
