#!/bin/sh
# Stands in for nvcc in the tests: PTX that was made once of a text, by this compiler, with these flags, is not made
# again, nor is the list of the files that a text includes, nor the host program in it. Kept is only what can be seen to
# depend on nothing else than the text, the files next to it that it includes, and all files in the folders of `-I`, where
# these are few, and what the compiler had nothing to say of. All else goes to nvcc as it is.
#
# Beside this script, made by kept-nvcc.ts, in a folder for this version of nvcc, of `selvage.h` and of the script:
# `compiler` holds the path of nvcc, `read-texts.awk` tells what a text depends on. Hits are many, so that each process
# that one starts would be felt.
own=${0%/*}
read -r nvcc < "$own/compiler"

form= steps= host= output= kept= previous= quote=
for word; do
  case $previous in
    -o) output=$word ;;
    --keep-dir) kept=$word ;;
  esac
  case $word in
    # Steps of device code that are run by themselves would go past what is kept, so it does not tell them.
    --dryrun) steps=yes ;;
    -c) host=yes ;;
    -ptx) form=ptx ;;
    -M) form=list ;;
    -I/*/include) include=${word#-I} ;;
    -iquote,*) quote=${word#-iquote,} ;;
  esac
  previous=$word
  input=$word
done
case $steps:$host in
  yes:yes) exec "$nvcc" "$@" ;;
  yes:) exit 1 ;;
esac
case $form:$kept:$output:$input in
  ptx:/*/kept:/*/unit.ptx:/*.cu) ;;
  list:::/*.cu) ;;
  *) exec "$nvcc" "$@" ;;
esac
temporary=${include%/include}
folder=${input%/*}
# Names that would have to be escaped below.
case $input$temporary$quote in *[!A-Za-z0-9/._-]*) exec "$nvcc" "$@" ;; esac
[ -n "$temporary" ] && [ -f "$input" ] || exec "$nvcc" "$@"

# The folders of -I in their order, and which folders lie in each other.
words= searched= number=0 places=
inside() { case $2/ in "$4"/*) places="$places $1 in $3: ${2#"$4"}" ;; esac; }
for word; do
  case $word in
    "$input"|"$temporary"/*|-I"$temporary"/include) word=${word##*/} ;;
    # It decides only where files that are included lie.
    -iquote,*) words=${words% -Xcompiler}; continue ;;
    -I/*)
      word=${word#-I}
      case $word in */|*[!A-Za-z0-9/._-]*) exec "$nvcc" "$@" ;; esac
      number=$((number + 1)) other=0
      for place in "$folder" "$temporary" "${quote:-/-}" $searched; do
        inside I$number "$word" $other "$place"
        inside $other "$place" I$number "$word"
        other=$((other + 1))
      done
      searched="$searched $word"
      word=-I
      ;;
    -I*|-isystem*|-include*|@*|*,-I*) exec "$nvcc" "$@" ;;
  esac
  words="$words $word"
done
line='
'
near=
if [ -n "$searched" ]; then near=$(find $searched ! -type d 2> /dev/null | LC_ALL=C sort -u); fi
case $near in *[!A-Za-z0-9/._"$line"-]*) exec "$nvcc" "$@" ;; esac
texts=$(awk -v input="$input" -v quote="$quote" -v searched="$searched" -f "$own/read-texts.awk" $near) || exec "$nvcc" "$@"
key=$(printf '%s\n' "$words$places" "$texts" | sha256sum)
build=$own/builds/${key%% *}

# Paths of this build, and what stands for them in what is kept.
here="s|@INPUT@|$input|g; s|@QUOTE@|$quote|g; s|@FOLDER@|$folder|g; s|@TEMPORARY@|$temporary|g"
placeless="s|$input|@INPUT@|g; s|${quote:-@QUOTE@}/|@QUOTE@/|g; s|$folder/|@FOLDER@/|g; s|$temporary/|@TEMPORARY@/|g"
number=0
for place in $searched; do
  number=$((number + 1))
  here="$here; s|@SEARCHED$number@|$place|g"
  placeless="$placeless; s|$place/|@SEARCHED$number@/|g"
done
if [ -d "$build" ]; then
  if [ $form = list ]; then
    sed "$here" "$build/files" && exit 0
  else
    sed "$here" "$build/ptx" > "$output" && sed "$here" "$build/files" > "$kept/unit.ii" && exit 0
  fi
fi

said=$temporary/said-$$
"$nvcc" "$@" > "$said.out" 2> "$said.err"
status=$?
said_nothing() { ! [ -s "$said.err" ] && { [ $form = list ] || ! [ -s "$said.out" ]; }; }
if [ $status = 0 ] && said_nothing && ! grep -q '@[A-Z]*[0-9]*@' "${output:-$said.out}"; then
  fresh=$(mktemp -d "$own/builds/fresh.XXXXXX") && {
    if [ $form = list ]; then
      sed "$placeless" < "$said.out" > "$fresh/files"
    else
      sed "$placeless" < "$output" > "$fresh/ptx"
      # Of the preprocessed text, the files that it names, and what it holds of the files beside the unit.
      {
        cat "$kept"/*.ii | grep '^# [0-9]* "' | sed 's/^# [0-9]*/# 1/; s/" [0-9 ]*$/"/' | sort -u
        set -- "$kept"/*.ii
        awk -v folders="$folder $quote $searched" '
          BEGIN { count = split(folders, names, " ") }
          /^# [0-9]+ "/ {
            name = $0
            sub(/^# [0-9]+ "/, "", name)
            own = 0
            for (i = 1; i <= count; i++) if (index(name, names[i] "/") == 1) own = 1
          }
          own' "$1"
      } | sed "$placeless" > "$fresh/files"
    fi
    mv -T "$fresh" "$build" 2> /dev/null || rm -rf "$fresh"
  }
fi
cat "$said.out"
cat "$said.err" >&2
rm -f "$said".*
exit $status
