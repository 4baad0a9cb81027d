# gnuplot rates.gp reads rates.dat and writes rates.png
reset session
if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {
    set terminal pngcairo noenhanced size 1200,720 font 'sans,12'
} else {
    set terminal png noenhanced size 1200,720
}
set encoding utf8
set datafile missing 'NaN'
set border 3 lc rgb '#98a2b3'
set tics out nomirror textcolor rgb '#475467'
set key outside right top vertical Left reverse samplen 2
set output 'rates.png'
set title 'Operations per second'."\n".'How many operations did each phase do in a second?'."\n".'With the sync at the end of a phase. Higher is faster.'."\n".'1 invalid measurement left out.'
set grid ytics lt 1 lc rgb '#e4e7ec'
set xlabel 'phase'
set xrange [-0.5:4.5]
set xtics scale 0 ('create' 0.0, 'rewrite' 1.0, 'read' 2.0, 'read-random' 3.0, 'delete' 4.0)
set ylabel 'operations per second'
set yrange [0.0:63248.55688795203]
set ytics ('0' 0.0, '10k' 10000.0, '20k' 20000.0, '30k' 30000.0, '40k' 40000.0, '50k' 50000.0, '60k' 60000.0)
plot 'rates.dat' index 0 using 1:3:(0.7360000000000001) with boxes fillstyle solid 0.85 noborder lc rgb '#0072b2' title 'ext4: mean', \
     'rates.dat' index 0 using 1:($4):(0):($5 - $4) with vectors heads size screen 0.004,90 fixed nofilled lw 1.4 lc rgb '#1d2939' notitle, \
     'rates.dat' index 1 using 1:3 with points lc rgb '#1d2939' pt 7 ps 0.5 title 'repeat'
