// Command kubectl-firekeeper is a kubectl plugin with the user commands of the operator.
// It cannot run the operator.
package main

import "github.com/firekeeper-dev/firekeeper/cmd/commands"

func main() { commands.Main(commands.Plugin) }
