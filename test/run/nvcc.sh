#!/bin/sh
# Stands in for nvcc in the tests: PTX that was made once of a text, by this compiler, with these flags, is not made
# again. Builds are kept only of what can be seen to depend on nothing else: one file that includes no file by its
# place, compiled without a word of the compiler. All else goes to nvcc as it is.
#
# Beside this script, made by kept-nvcc.ts: `compiler` holds the path of nvcc, `identity` its version and `selvage.h`.
own=$(dirname "$0")
read -r nvcc < "$own/compiler"

ptx= output= kept= previous= words=
for word; do
  case $previous in
    -o) output=$word ;;
    --keep-dir) kept=$word ;;
  esac
  [ "$word" = -ptx ] && ptx=yes
  previous=$word
  input=$word
done
case $ptx:$kept:$output:$input in
  yes:/*/kept:/*/unit.ptx:/*.cu) ;;
  *) exec "$nvcc" "$@" ;;
esac
temporary=$(dirname "$output")
# Names that would have to be escaped below, and texts that say more than their letters.
case $input$temporary in *[!A-Za-z0-9/._-]*) exec "$nvcc" "$@" ;; esac
grep -Eq '^[[:space:]]*(#|%:|\?\?=)[[:space:]]*(include[[:space:]]*[^<[:space:]]|include_next|embed)|incbin|\.macro|__has_|__FILE|__DATE__|__TIME|__builtin_FILE|__BASE_FILE__|#[[:space:]]*include.*[^>[:space:]][[:space:]]*$' "$input" && exec "$nvcc" "$@"
[ -f "$input" ] || exec "$nvcc" "$@"

for word; do
  case $word in
    "$input"|"$temporary"/*|-I"$temporary"/include) word=${word##*/} ;;
    -iquote,*) word=-iquote ;;
    -I*|-isystem*|-include*|@*|*,-I*) exec "$nvcc" "$@" ;;
  esac
  words="$words $word"
done
key=$({ cat "$own/identity"; echo "$words"; cat "$input"; } | sha256sum)
build=$own/builds/${key%% *}
if [ -d "$build" ]; then
  sed "s|@INPUT@|$input|g" "$build/ptx" > "$output" && sed "s|@INPUT@|$input|g" "$build/files" > "$kept/unit.ii" && exit 0
fi

said=$temporary/said
"$nvcc" "$@" > "$said.out" 2> "$said.err"
status=$?
if [ $status = 0 ] && ! [ -s "$said.out" ] && ! [ -s "$said.err" ] && ! grep -q @INPUT@ "$output"; then
  fresh=$(mktemp -d "$own/builds/fresh.XXXXXX") && {
    sed "s|$input|@INPUT@|g" "$output" > "$fresh/ptx"
    # Of the preprocessed text, the files that it names.
    cat "$kept"/*.ii | grep '^# [0-9]* "' | sed 's/^# [0-9]*/# 1/; s/" [0-9 ]*$/"/' | sort -u | sed "s|$input|@INPUT@|g" > "$fresh/files"
    mv -T "$fresh" "$build" 2> /dev/null || rm -rf "$fresh"
  }
fi
cat "$said.out"
cat "$said.err" >&2
exit $status
