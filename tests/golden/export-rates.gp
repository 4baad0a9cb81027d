# gnuplot rates.gp reads rates.dat and writes rates.png
reset session
set terminal png noenhanced size 1200,720
set encoding utf8
set datafile missing 'NaN'
set key outside right top vertical
set boxwidth 0.8
set style fill solid 0.85 noborder
set grid
set output 'rates.png'
set title 'Operations per second'
set xlabel 'phase'
set xtics rotate by 30 right ('create' 0, 'rewrite' 1, 'read' 2, 'read-random' 3, 'delete' 4)
set ylabel 'operations per second'
set yrange [0:*]
plot 'rates.dat' index 0 using 1:3:(0.7360000000000001) with boxes lc 1 title 'ext4: mean', \
     'rates.dat' index 0 using 1:3:4:5 with yerrorbars pt -1 lc 'black' notitle, \
     'rates.dat' index 1 using 1:3 with points pt 7 lc 1 title 'ext4: repeat'
