# Prints all that a text depends on: its lines, and those of the files that it includes in quotes, which lie in the
# folder of the file that names them, or in `quote`, then of all files that the arguments name, which lie in the folders
# `searched`. Ends with 1 where more than these lines decides what nvcc makes of it: other ways to include, its place,
# the time.
#
# -v input=PATH -v quote=FOLDER -v searched="FOLDER…" FILE…

function readable(path,   line, status) {
  status = (getline line < path)
  close(path)
  return status >= 0
}

function take(path,   folder, line, name, place) {
  if (path in taken) return
  taken[path] = 1
  folder = path
  sub(/[^\/]*$/, "", folder)
  while ((getline line < path) > 0) {
    print line
    if (line ~ /incbin|\.[ \t]*(inc|macro|irp|altmacro)|__has_|__FILE|__DATE__|__TIME|__builtin_FILE|__BASE_FILE__/) exit 1
    # Its message holds the place.
    if (line ~ /(^|[^A-Za-z0-9_])assert[ \t]*\(/) exit 1
    # A directive that is not whole in its line, or hides in it.
    if (line ~ /^[ \t]*(#|%:|\?\?=)[ \t]*([a-z_]*\\[ \t\r]*$|\/\*|\/\/)/) exit 1
    if (line !~ /^[ \t]*(#|%:|\?\?=)[ \t]*(include|embed|import)/) continue
    if (line ~ /^[ \t]*#[ \t]*include[ \t]*<[^>]*>[ \t\r]*$/) continue
    if (line !~ /^[ \t]*#[ \t]*include[ \t]*"[A-Za-z0-9_.\/-]+"[ \t\r]*$/) exit 1
    name = line
    sub(/^[^"]*"/, "", name)
    sub(/".*$/, "", name)
    if (name ~ /^\/|\.\.\//) exit 1
    if (readable(folder name)) {
      print "@ " name " next to it"
      take(folder name)
    } else if (quote != "" && readable(quote "/" name)) {
      print "@ " name " in quote"
      take(quote "/" name)
    } else {
      # It is the toolkit's, selvage.h, or missing.
      print "@ " name " is not here"
    }
  }
  close(path)
}

# Where a file lies in the folders that are searched, as far as that does not depend on where these lie.
function placeIn(path,   folders, count, i) {
  count = split(searched, folders, " ")
  for (i = 1; i <= count; i++) if (index(path, folders[i] "/") == 1) return i ": " substr(path, length(folders[i]) + 2)
  exit 1
}

BEGIN {
  take(input)
  # More would take longer to read than to compile.
  if (ARGC > 65) exit 1
  for (argument = 1; argument < ARGC; argument++) {
    print "@ " placeIn(ARGV[argument]) " is searched"
    if (!readable(ARGV[argument])) exit 1
    take(ARGV[argument])
  }
}
