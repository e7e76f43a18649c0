// Command openapi writes the OpenAPI document that the operator serves. It is generated from the routes of package web
// and the Go types of the responses:
//
//	go run ./operator/dev/openapi operator/web/openapi.json
//
//	document.go   paths, parameters and errors
//	schema.go     schemas of types, following encoding/json
//	comments.go   comments in the sources, used as descriptions
//
// A test fails if the file is out of date.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/firekeeper-dev/firekeeper/operator/web"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one argument, the file to write")
	}
	text, err := generate()
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], text, 0o644)
}

// generate returns the encoded document.
func generate() ([]byte, error) {
	doc, err := document(web.Routes())
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(doc, "", " ")
	return append(text, '\n'), err
}
