# Prints which tests of a `go test` failed and what each said, without what programs logged:
# of long messages the first lines, of many messages the last ones. With -v what a test says
# comes before its result, where lines of tests are mixed; without it comes after.

function add(test, line) {
  said[test] = said[test] substr(line, 1, 600) "\n"
}

/^=== (RUN|NAME|CONT|PAUSE) / { verbose = 1; now = $3; left = 0; next }

/^ *--- (FAIL|PASS|SKIP): / {
  left = 0
  now = verbose ? "" : $3
  if ($2 == "FAIL:" && !($3 in failed)) { failed[$3] = 1; order[++n] = $3 }
  next
}

/^(ok|FAIL|PASS|\?) *\t|^(FAIL|PASS)$/ {
  if (/^FAIL\t/ && /build failed|setup failed|timed out/) loose = loose $0 "\n"
  now = ""; left = 0; next
}

# What is of no test: a test program that ends early, and code that does not compile.
/^panic:|^fatal error:|DATA RACE/ { more = 12 }
/^[^ \t]*\.go:[0-9]+:[0-9]+: / { loose = loose substr($0, 1, 400) "\n" }
more > 0 { more--; loose = loose substr($0, 1, 400) "\n" }

# A message, and the first lines of what follows it, unless that is a log.
/^ +[A-Za-z0-9_]+_test\.go:[0-9]+: / {
  add(now, $0)
  match($0, /^ +/); depth = RLENGTH
  left = /: log of |end of the log of / ? 0 : 12
  next
}
left > 0 {
  match($0, /^ */)
  if (RLENGTH > depth) { add(now, $0); left-- } else left = 0
}

END {
  for (i = 1; i <= n; i++) {
    test = order[i]
    print "--- FAIL: " test
    size = length(said[test])
    printf "%s", (size > 4000 ? "…" substr(said[test], size - 4000) : said[test])
  }
  printf "%s", loose
}
