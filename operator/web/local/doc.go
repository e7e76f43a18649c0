// Package local guards pages that a person serves on their own machine, with their own
// permissions: every site that is open in the browser can send requests to such an address, and
// none of them may read it.
//
//	listen.go   which addresses only this machine reaches, and their URLs
//	guard.go    which requests are answered
//
//	address, err := local.Parse("127.0.0.1:9099")
//	server := httpserver.Listen(httpserver.Options{Address: address.String(), Handler: local.Guard(pages, address)})
package local
