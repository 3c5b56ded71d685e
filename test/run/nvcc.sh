#!/bin/sh
# Stands in for nvcc in the tests: PTX that was made once of a text, by this compiler, with these flags, is not made
# again, nor is the list of the files that a text includes, nor the host program in it. Kept is only what can be seen to
# depend on nothing else than the text, and the files next to it that it includes, and what the compiler had nothing to
# say of. All else goes to nvcc as it is.
#
# Beside this script, made by kept-nvcc.ts: `compiler` holds the path of nvcc, `identity` its version and `selvage.h`,
# `read-texts.awk` tells what a text depends on.
own=$(dirname "$0")
read -r nvcc < "$own/compiler"

form= output= kept= previous= quote=
for word; do
  case $previous in
    -o) output=$word ;;
    --keep-dir) kept=$word ;;
  esac
  case $word in
    -ptx) form=ptx ;;
    -M) form=list ;;
    -I/*/include) include=${word#-I} ;;
    -iquote,*) quote=${word#-iquote,} ;;
  esac
  previous=$word
  input=$word
done
case $form:$kept:$output:$input in
  ptx:/*/kept:/*/unit.ptx:/*.cu) ;;
  list:::/*.cu) ;;
  *) exec "$nvcc" "$@" ;;
esac
temporary=${include%/include}
folder=$(dirname "$input")
# Names that would have to be escaped below.
case $input$temporary$quote in *[!A-Za-z0-9/._-]*) exec "$nvcc" "$@" ;; esac
[ -n "$temporary" ] && [ -f "$input" ] || exec "$nvcc" "$@"

words=
for word; do
  case $word in
    "$input"|"$temporary"/*|-I"$temporary"/include) word=${word##*/} ;;
    # It decides only where files that are included lie.
    -iquote,*) words=${words% -Xcompiler}; continue ;;
    -I*|-isystem*|-include*|@*|*,-I*) exec "$nvcc" "$@" ;;
  esac
  words="$words $word"
done
texts=$(awk -v input="$input" -v quote="$quote" -f "$own/read-texts.awk") || exec "$nvcc" "$@"
key=$({ cat "$own/identity"; echo "$words"; echo "$texts"; } | sha256sum)
build=$own/builds/${key%% *}

# Paths of this build, and what stands for them in what is kept.
here() { sed "s|@INPUT@|$input|g; s|@QUOTE@|$quote|g; s|@FOLDER@|$folder|g; s|@TEMPORARY@|$temporary|g" "$1"; }
placeless() { sed "s|$input|@INPUT@|g; s|${quote:-@QUOTE@}/|@QUOTE@/|g; s|$folder/|@FOLDER@/|g; s|$temporary/|@TEMPORARY@/|g"; }
if [ -d "$build" ]; then
  if [ $form = list ]; then
    here "$build/files" && exit 0
  else
    here "$build/ptx" > "$output" && here "$build/files" > "$kept/unit.ii" && exit 0
  fi
fi

said=$temporary/said-$$
"$nvcc" "$@" > "$said.out" 2> "$said.err"
status=$?
said_nothing() { ! [ -s "$said.err" ] && { [ $form = list ] || ! [ -s "$said.out" ]; }; }
if [ $status = 0 ] && said_nothing && ! grep -q '@[A-Z]*@' "${output:-$said.out}"; then
  fresh=$(mktemp -d "$own/builds/fresh.XXXXXX") && {
    if [ $form = list ]; then
      placeless < "$said.out" > "$fresh/files"
    else
      placeless < "$output" > "$fresh/ptx"
      # Of the preprocessed text, the files that it names, and what it holds of the files beside the unit.
      {
        cat "$kept"/*.ii | grep '^# [0-9]* "' | sed 's/^# [0-9]*/# 1/; s/" [0-9 ]*$/"/' | sort -u
        set -- "$kept"/*.ii
        awk -v folder="$folder/" -v quote="${quote:-$folder}/" '
          /^# [0-9]+ "/ { name = $0; sub(/^# [0-9]+ "/, "", name); own = index(name, folder) == 1 || index(name, quote) == 1 }
          own' "$1"
      } | placeless > "$fresh/files"
    fi
    mv -T "$fresh" "$build" 2> /dev/null || rm -rf "$fresh"
  }
fi
cat "$said.out"
cat "$said.err" >&2
rm -f "$said".*
exit $status
