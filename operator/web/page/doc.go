// Package page shows the answers of package insight to people: HTML that works without script,
// with a stylesheet, a script and nothing else. Each page has a twin in JSON.
package page
